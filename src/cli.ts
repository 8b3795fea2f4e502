#!/usr/bin/env node
import './platform/lib/compile-cache.ts'
import './platform/lib/navigator.ts'

// `… | head` closes the pipe while there is more to print: nobody is interested in the rest.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

const { runCommand } = await import('./command-line.ts') // what it loads asks for what is made above
await runCommand(process, process.argv.slice(2))
