const LOOPBACK = /^((.+\.)?localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i

/** Whether a host name or address, in a URL or by itself, means this machine and can be reached from no other. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host)
