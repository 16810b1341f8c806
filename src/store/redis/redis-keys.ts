// Every key of the store, for one prefix. The prefix is the hash tag of all of them, so a cluster
// keeps them in one slot: a script may then touch any number of tasks, the index and the floor of
// tokens in one atomic step. The tag comes first, so braces in an id cannot move it.

/** The keys of one prefix. */
export interface Keys {
  /** A hash: the version of the data, and the least token of new ids. */
  readonly meta: string
  /** A set of the ids that have a record. A hint for `list`; the records are the truth. */
  readonly ids: string
  /** A set of the ids that have a tombstone. A hint for `purge`. */
  readonly graves: string
  /** The hash with a task, or its tombstone. */
  schedule(id: string): string
  /** The hash with a named lease. */
  lease(name: string): string
}

/** Throws a `TypeError` unless the prefix is 1 to 100 letters, digits and `_ - . : /`. */
export function keysOf(prefix: string): Keys {
  if (typeof prefix !== 'string' || !/^[\w.:/-]{1,100}$/.test(prefix)) {
    throw new TypeError(
      'prefix: must be 1 to 100 letters, digits and any of _ - . : /, got ' +
        JSON.stringify(prefix),
    )
  }
  const tag = `{${prefix}}`
  return {
    meta: `${tag}:meta`,
    ids: `${tag}:ids`,
    graves: `${tag}:graves`,
    schedule: (id) => `${tag}:sched:${id}`,
    lease: (name) => `${tag}:lease:${name}`,
  }
}
