// What a MongoStore takes for options, and what it refuses before it looks for a server.

import { describe, expect, it } from 'vitest'
import { MongoStore } from '../../../src/store/mongo/index.ts'

describe('options', () => {
  const url = 'mongodb://h/d'
  const misuse: Record<string, { options: object; says: string }> = {
    'neither URL nor client': { options: {}, says: 'give either a url or a client' },
    'both URL and client': { options: { url, client: {} }, says: 'give either a url or a client' },
    'a client that is none': { options: { client: {} }, says: 'client: must be a MongoClient' },
    'a URL of another kind': { options: { url: 'https://h/d' }, says: 'must be a URL that starts' },
    'a URL without a host': { options: { url: 'mongodb://' }, says: 'must be a URL that starts' },
    'a URL with a password, of another kind': {
      options: { url: 'ftp://me:secret-word@h' },
      says: 'must be a URL that starts',
    },
    'a URL that is no text': { options: { url: 5 }, says: 'must be a URL that starts' },
    'a prefix with a dollar': { options: { url, collectionPrefix: '$' }, says: 'collectionPrefix' },
    'a prefix with a dot': { options: { url, collectionPrefix: 'a.' }, says: 'collectionPrefix' },
    'a prefix with a digit first': {
      options: { url, collectionPrefix: '1' },
      says: 'collectionPrefix',
    },
    'a prefix of 41 characters': {
      options: { url, collectionPrefix: 'x'.repeat(41) },
      says: 'collectionPrefix',
    },
    'a database with a slash': { options: { url, database: 'a/b' }, says: 'database' },
    'a database without a name': { options: { url, database: '' }, says: 'database' },
    'no time': { options: { url, timeoutMs: 0 }, says: 'timeoutMs' },
    'no connections': { options: { url, connectionsMax: 0 }, says: 'connectionsMax' },
  }
  it.each(Object.entries(misuse))('with %s are refused at once', (_, { options, says }) => {
    let thrown: unknown
    try {
      new MongoStore(options as { url: string })
    } catch (error) {
      thrown = error
    }
    expect(thrown instanceof TypeError || thrown instanceof RangeError).toBe(true)
    expect((thrown as Error).message).toContain(says)
    expect((thrown as Error).message).not.toContain('secret-word')
  })

  const urls = [
    'mongodb://a:1,b:2,c/db?replicaSet=rs',
    'mongodb+srv://me:p%40ss@cluster.example.com',
  ]
  it.each(urls)('%s is a URL', (each) => {
    expect(() => new MongoStore({ url: each })).not.toThrow()
  })
})
