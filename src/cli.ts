#!/usr/bin/env node
import { runCommand } from './command-line.ts'

// `… | head` closes the pipe while there is more to print: nobody is interested in the rest.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

await runCommand(process, process.argv.slice(2))
