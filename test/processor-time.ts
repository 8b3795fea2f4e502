/** The CPU time of some work in milliseconds: other processes influence it less than the elapsed time. */
export function processorTime(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
