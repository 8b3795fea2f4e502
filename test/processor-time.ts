/** What this process has used of the processors for some work, in milliseconds: who else uses them changes it less. */
export function processorTime(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
