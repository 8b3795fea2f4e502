import { testSnippets } from './run-snippets.ts'

testSnippets(['curl', 'python', 'java', 'php', 'csharp', 'go'])
