import { testSnippets } from './run-snippets.ts'

testSnippets(['node'])
