// What a peer's file gives to the benchmark. Peers have words of their own, which are used here as
// they are; "run" is one call of a handler, of one slot of a schedule or of one waiting piece.

/** What is asked of a peer. */
export type PeerQuestion =
  /** Schedules that are always due: an interval of 1 ms. */
  | { readonly kind: 'always due'; readonly tasks: number; readonly seconds: number }
  /** Schedules that all fall due at the next full minute, the finest cron of some peers. */
  | { readonly kind: 'due at once'; readonly tasks: number; readonly seconds: number }
  /** Work that waits when the workers start; nothing is scheduled, so this is less to do. */
  | { readonly kind: 'backlog'; readonly tasks: number; readonly seconds: number }

/** What a replica of a peer is told. */
export interface PeerOptions {
  readonly url: string
  /** Unlike that of any other question: a schema, a prefix or a collection. */
  readonly name: string
  readonly question: PeerQuestion
  /** How many replicas there are; each brings its share of a backlog. */
  readonly replicas: number
  /** To be called by the handler, with what names the run. */
  readonly ran: (key: string) => void
}

/** A replica of a peer, with everything stored that is to run, and no worker yet. */
export interface PeerReplica {
  start(): Promise<void>
  stop(): Promise<void>
}
