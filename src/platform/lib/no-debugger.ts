/**
 * Node opens its debugger on SIGUSR1, and every user of the machine who reaches that port runs code as this process. The
 * signal is sent by mistake: other servers reopen their logs on it.
 */
process.on('SIGUSR1', () => {})
