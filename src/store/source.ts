// Where a store's server is: what users may say of it, and what is said of it in errors.

/** A server by its URL, or a pool that somebody else opened and will close. */
export type Source<Pool> =
  | { readonly url: string; readonly connectionsMax: number }
  | { readonly pool: Pool }

/** What users say of it. */
export type SourceOptions<Pool> =
  | {
      /** With user, password, host, port and database. */
      readonly url: string
      /** The most connections that are open at once. Default 5. */
      readonly connectionsMax?: number
    }
  | {
      /** Your own pool. It is never closed. */
      readonly pool: Pool
    }

/** The one of the two that `options` have. Throws a `TypeError` or `RangeError`. */
export function sourceOf<Pool>(
  options: SourceOptions<Pool>,
  { store, protocols }: { store: string; protocols: readonly string[] },
): Source<Pool> {
  const {
    url,
    pool,
    connectionsMax = 5,
  } = options as {
    url?: unknown
    pool?: Pool
    connectionsMax?: number
  }
  if ((url === undefined) === (pool === undefined)) {
    throw new TypeError(`${store}: give either a url or a pool`)
  }
  if (pool !== undefined) return { pool }
  if (!Number.isSafeInteger(connectionsMax) || connectionsMax < 1) {
    throw new RangeError(`connectionsMax: must be a whole number from 1 up, got ${connectionsMax}`)
  }
  if (typeof url === 'string' && URL.canParse(url) && protocols.includes(new URL(url).protocol)) {
    return { url, connectionsMax }
  }
  // The text may have a password in it: it is not repeated.
  const starts = protocols.map((protocol) => `${protocol}//`).join(' or ')
  throw new TypeError(`url: must be a URL that starts with ${starts}`)
}

/** The store and where its server is, for errors: without user, password and parameters. */
export function nameOf(store: string, source: Source<unknown>): string {
  if ('pool' in source) return store
  const { host, pathname } = new URL(source.url)
  return `${store} at ${host}${pathname}`
}
