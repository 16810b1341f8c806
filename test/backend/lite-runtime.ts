// A stand-in for `@pumped-fn/lite`, as far as schedules use it: atoms that a scope resolves once
// and cleans up at its end, flows that run in contexts, tags that scopes and contexts carry.
// Written from its public description; what it does beyond that is missing here.

type Cleanup = () => unknown

/** How a context ended. */
export type CloseResult = { ok: true } | { ok: false; error: unknown }

export interface Tagged {
  readonly tag: Tag<never>
  readonly value: unknown
}

export interface Tag<Value> {
  (value: Value): Tagged
  readonly label: string
}

interface Required {
  readonly required: Tag<never>
}

type Deps = Readonly<Record<string, Required>>

export interface Atom<Value> {
  readonly keepAlive: boolean
  readonly deps: Deps
  readonly factory: (context: ResolveContext, deps: never) => Value | Promise<Value>
}

export interface Flow<Output> {
  readonly name: string | undefined
  readonly deps: Deps
  readonly factory: (context: Context, deps: never) => Output | Promise<Output>
}

export interface ResolveContext {
  readonly scope: Scope
  readonly cleanup: (action: Cleanup) => void
}

export function tag<Value>({ label }: { label: string }): Tag<Value> {
  const made: Tag<Value> = Object.assign((value: Value) => ({ tag: made as Tag<never>, value }), {
    label,
  })
  return made
}

export const tags = {
  required: (wanted: Tag<never>): Required => ({ required: wanted }),
}

export function atom<Value>({
  keepAlive = false,
  deps = {},
  factory,
}: {
  keepAlive?: boolean
  deps?: Deps
  factory: Atom<Value>['factory']
}): Atom<Value> {
  return { keepAlive, deps, factory }
}

export function flow<Output>({
  name,
  deps = {},
  factory,
}: {
  name?: string
  deps?: Deps
  factory: Flow<Output>['factory']
}): Flow<Output> {
  return { name, deps, factory }
}

export function createScope(options: { tags?: readonly Tagged[] } = {}): Scope {
  return new Scope(options.tags ?? [])
}

export class Scope {
  readonly tags: readonly Tagged[]
  /** Of every context that was made here, in order. */
  readonly contexts: Context[] = []
  readonly #resolved = new Map<Atom<unknown>, Promise<unknown>>()
  readonly #cleanups: Cleanup[] = []

  constructor(own: readonly Tagged[]) {
    this.tags = own
  }

  resolve<Value>(wanted: Atom<Value>): Promise<Value> {
    let value = this.#resolved.get(wanted)
    if (!value) {
      value = this.#make(wanted)
      this.#resolved.set(wanted, value)
    }
    return value as Promise<Value>
  }

  createContext({ tags: own = [] }: { tags?: readonly Tagged[] } = {}): Context {
    const context = new Context(this, own)
    this.contexts.push(context)
    return context
  }

  async dispose(): Promise<void> {
    for (const cleanup of this.#cleanups.reverse()) await cleanup()
  }

  async #make<Value>({ deps, factory }: Atom<Value>): Promise<Value> {
    const cleanup = (action: Cleanup) => void this.#cleanups.push(action)
    return factory({ scope: this, cleanup }, resolved(deps, this.tags))
  }
}

export class Context {
  readonly scope: Scope
  readonly #tags: readonly Tagged[]
  readonly #whenClosed: ((result: CloseResult) => unknown)[] = []
  input: unknown
  /** How it was closed, if it was. */
  closed: CloseResult | undefined

  constructor(scope: Scope, own: readonly Tagged[]) {
    this.scope = scope
    this.#tags = [...own, ...scope.tags]
  }

  async exec<Output>({ flow: { deps, factory }, input }: { flow: Flow<Output>; input?: unknown }) {
    if (this.closed) throw new Error('the context is closed')
    this.input = input
    return await factory(this, resolved(deps, this.#tags))
  }

  onClose(action: (result: CloseResult) => unknown): void {
    this.#whenClosed.push(action)
  }

  async close(result: CloseResult = { ok: true }): Promise<void> {
    if (this.closed) return
    this.closed = result
    for (const action of this.#whenClosed.reverse()) await action(result)
  }
}

/** The first value of each tag that is asked for; without one it throws. */
function resolved(deps: Deps, from: readonly Tagged[]): never {
  const values = Object.entries(deps).map(([name, { required }]) => {
    const found = from.find((tagged) => tagged.tag === required)
    if (!found) throw new Error(`the tag "${required.label}" has no value here`)
    return [name, found.value]
  })
  return Object.fromEntries(values) as never
}
