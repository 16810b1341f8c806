// Instantiates the Wasm core and is the only file that touches its memory. Parsed expressions share
// one instance; every batch has its own, so that its memory is reclaimed with it.

import coreHex from '../build/core.wasm'
import type { OffsetTable } from './offset-table.ts'
import type { Plan } from './options.ts'

/** An exported constant or variable of the core. */
interface Global {
  readonly value: number
}

/** What the core exports; see assembly/index.ts. Addresses are byte offsets into its memory. */
interface CoreExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly OUTPUT: Global
  readonly SLOTS: Global
  readonly SLOT_COUNT: Global
  readonly RECORD_SIZE: Global
  readonly MASKS: Global
  readonly BATCH_ITEMS: Global
  readonly ITEMS_MAX: Global
  readonly CHUNK_FIRST: Global
  readonly CHUNK_MS: Global
  readonly MARGIN: Global
  readonly batchDone: Global
  readonly resumeAt: Global
  scratch(size: number): number
  compile(
    record: number,
    text: number,
    length: number,
    seedLength: number,
    zone: number,
    rules: number,
  ): number
  intern(text: number, length: number, seedLength: number, zone: number, rules: number): number
  recordOfId(id: number): number
  batchInput(): number
  batchNext(done: number, items: number): number
  next(record: number, from: number, years: number): number
  prev(record: number, from: number, years: number): number
  matches(record: number, instant: number): number
  enumerate(record: number, from: number, until: number, out: number, limit: number): number
  addZone(): number
  addFixedZone(offset: number): number
  chunkInput(count: number): number
  installChunk(zone: number, index: number, count: number): void
}

/** Where a text was refused. */
export interface Refusal {
  readonly status: number
  readonly field: number
  /** UTF-16 indexes into the text, the end exclusive. */
  readonly start: number
  readonly end: number
}

/** One instance of the core, with the zones it knows. */
export class Core {
  readonly exports: CoreExports
  readonly #zoneAddresses = new Map<OffsetTable, number>()
  readonly #zones = new Map<number, OffsetTable>()
  /** How many records can stand in slots at once. */
  readonly slotCount: number
  readonly #slots: number
  readonly #recordSize: number
  #bytes: Uint8Array

  constructor(module: object) {
    const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyNamespace }
    this.exports = new WebAssembly.Instance(module).exports
    this.#bytes = new Uint8Array(this.exports.memory.buffer)
    // Reading an exported constant costs a call, so those on the way of every parse are kept.
    this.slotCount = this.exports.SLOT_COUNT.value
    this.#slots = this.exports.SLOTS.value
    this.#recordSize = this.exports.RECORD_SIZE.value
  }

  /** The address of the record in a slot. */
  slotAddress(slot: number): number {
    return this.#slots + slot * this.#recordSize
  }

  /** Compiles a text into a record; returns 0 or the status that refused it. */
  compile(record: number, expression: string, plan: Plan): number {
    const zone = this.zoneAddress(plan.table)
    const { length } = expression
    const seed = seedBytesOf(plan)
    const text = this.#writeText(expression, seed)
    return this.exports.compile(record, text, length, seed?.length ?? -1, zone, plan.rules)
  }

  /** Adds a text to a batch; returns its id, or the complement of the status that refused it. */
  intern(expression: string, plan: Plan): number {
    const zone = this.zoneAddress(plan.table)
    const seed = seedBytesOf(plan)
    const text = this.#writeText(expression, seed)
    return this.exports.intern(text, expression.length, seed?.length ?? -1, zone, plan.rules)
  }

  /** The address of a zone, added when it is new. */
  zoneAddress(table: OffsetTable): number {
    let address = this.#zoneAddresses.get(table)
    if (address === undefined) {
      const { fixedOffset } = table
      address =
        fixedOffset === undefined ? this.exports.addZone() : this.exports.addFixedZone(fixedOffset)
      this.#zoneAddresses.set(table, address)
      this.#zones.set(address, table)
    }
    return address
  }

  /**
   * Copies a text to where the core reads it, one byte a character, and the seed behind it; returns
   * the address.
   */
  #writeText(text: string, seed: Uint8Array | undefined): number {
    const { length } = text
    const address = this.exports.scratch(length + (seed?.length ?? 0))
    const bytes = this.#memory()
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      bytes[address + i] = code < 0x80 ? code : 0xff
    }
    if (seed) bytes.set(seed, address + length)
    return address
  }

  /** What the last refused text was refused for. */
  refusal(status: number): Refusal {
    const [field = 0, start = 0, end = 0] = new Int32Array(
      this.exports.memory.buffer,
      this.exports.OUTPUT.value,
      3,
    )
    return { status, field, start, end }
  }

  /** What was read of the text compiled last; see OUT_FIELD_COUNT and MASKS in assembly/abi.ts. */
  readings(): { readonly output: Uint32Array; readonly masks: Uint32Array } {
    const { memory, OUTPUT, MASKS } = this.exports
    return {
      output: new Uint32Array(memory.buffer, OUTPUT.value, 16),
      masks: new Uint32Array(memory.buffer, MASKS.value, 20),
    }
  }

  /** Reads the chunk that the last answer lacked; the question can then be asked again. */
  installMissingChunk(): void {
    const { exports } = this
    const words = new Int32Array(exports.memory.buffer, exports.OUTPUT.value, 8)
    const zone = words[6]!
    const index = words[7]!
    const start = (index + exports.CHUNK_FIRST.value) * exports.CHUNK_MS.value
    const margin = exports.MARGIN.value
    const pairs = this.#zones
      .get(zone)!
      .read(start - margin, start + exports.CHUNK_MS.value + margin)
    const input = exports.chunkInput(pairs.length / 2)
    new Float64Array(exports.memory.buffer, input, pairs.length).set(pairs)
    exports.installChunk(zone, index, pairs.length / 2)
  }

  /** A view on `length` instants in memory; good until the next call of the core. */
  instants(address: number, length: number): Float64Array {
    return new Float64Array(this.exports.memory.buffer, address, length)
  }

  /** A view on `length` ids in memory; good until the next call of the core. */
  ids(address: number, length: number): Uint32Array {
    return new Uint32Array(this.exports.memory.buffer, address, length)
  }

  /** Growing memory empties every view on it. */
  #memory(): Uint8Array {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.exports.memory.buffer)
    return this.#bytes
  }
}

/** What `H` hashes, for the dialect that knows it. */
function seedBytesOf({ dialect, seed }: Plan): Uint8Array | undefined {
  return dialect === 'standard' || seed === undefined ? undefined : new TextEncoder().encode(seed)
}

/** The part of the `WebAssembly` global that is used; not every host's types declare it. */
interface WebAssemblyNamespace {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: CoreExports }
  compile(bytes: Uint8Array): Promise<object>
}

let compiled: object | undefined
let shared: Core | undefined

function coreBytes(): Uint8Array {
  const bytes = new Uint8Array(coreHex.length / 2)
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = Number.parseInt(coreHex.slice(2 * i, 2 * i + 2), 16)
  }
  return bytes
}

function compiledModule(): object {
  if (!compiled) {
    const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyNamespace }
    try {
      compiled = new WebAssembly.Module(coreBytes())
    } catch (cause) {
      throw new Error(
        'cronfence: this host does not compile WebAssembly synchronously; ' +
          'call `await ready()` once before the first expression is parsed',
        { cause },
      )
    }
  }
  return compiled
}

/**
 * Compiles the core without blocking. Needed only where a host refuses to compile synchronously
 * (some browsers' main threads); elsewhere the first use compiles it. May be called any number of
 * times.
 */
export async function ready(): Promise<void> {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyNamespace }
  compiled ??= await WebAssembly.compile(coreBytes())
}

/** The instance that all parsed expressions share. */
export function sharedCore(): Core {
  shared ??= new Core(compiledModule())
  return shared
}

/** An instance of its own, whose memory goes when it is no longer referenced. */
export function newCore(): Core {
  return new Core(compiledModule())
}
