import { COLLECTION, type Collected, foldersOf, SECRET_VARIABLE, scriptText, variablesOf } from './requests.ts'

const CONTENT_TYPE = { key: 'Content-Type', value: 'application/json; charset=utf-8' }

const event = (listen: 'prerequest' | 'test', script: string) => ({
  listen,
  script: { type: 'text/javascript', exec: script.split('\n') },
})

/** A Postman collection, version 2.1, that signs its requests by itself. */
export const postmanCollection = (collected: Collected): object => ({
  info: {
    name: COLLECTION,
    description: collected.t('sandbox.exports.collection'),
    schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
  },
  variable: Object.entries({ ...variablesOf(collected), [SECRET_VARIABLE]: '' }).map(([key, value]) => ({
    key,
    value,
  })),
  event: [event('prerequest', scriptText('postman-sign')), event('test', scriptText('postman-test'))],
  item: foldersOf(collected).map(({ name, requests }) => ({
    name,
    item: requests.map((request) => ({
      name: request.name,
      request: {
        method: 'POST',
        header: [CONTENT_TYPE],
        url: {
          raw: `{{${request.to}}}${request.path}`,
          host: [`{{${request.to}}}`],
          path: request.path.slice(1).split('/'),
        },
        body: { mode: 'raw', raw: request.body, options: { raw: { language: 'json' } } },
      },
    })),
  })),
})
