// Lets the fuzzer's addon load on systems older than the one it was built on. It asks for glibc 2.38
// and libstdc++ 13 by three names only: strtol and strtoul under the names they got there, and a
// mark that is never called. A copy asks for the old names instead. Loaded by --import; elsewhere it
// does nothing.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** Versions that old systems lack, and one that they have of the same library. */
const VERSIONS = new Map([
  ['GLIBC_2.38', 'GLIBC_2.2.5'],
  ['GLIBCXX_3.4.32', 'GLIBCXX_3.4'],
])
const NEW_NAMES = ['__isoc23_strtol', '__isoc23_strtoul']

const SECTION_BYTES = 64
const SYMBOL_BYTES = 24
/** Section types of ELF. */
const SYMBOLS = 11
const VERSIONS_NEEDED = 0x6ffffffe

const dlopen = process.dlopen
process.dlopen = (module, path, ...flags) => {
  try {
    dlopen(module, path, ...flags)
  } catch (error) {
    if (!/version `GLIBC(XX)?_[\d.]+' not found/.test(error.message)) throw error
    const folder = mkdtempSync(join(tmpdir(), 'cronfence-fuzz-'))
    try {
      const copy = join(folder, basename(path))
      writeFileSync(copy, withOldNames(readFileSync(path)))
      dlopen(module, copy, ...flags)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
}

/** The 64-bit ELF file, changed in place. */
function withOldNames(elf) {
  const sections = sectionsOf(elf)
  const symbols = sections.find(({ type }) => type === SYMBOLS)
  const needed = sections.find(({ type }) => type === VERSIONS_NEEDED)
  const text = (at) => elf.toString('latin1', at, elf.indexOf(0, at))
  const namesAt = sections[symbols.link].offset
  for (let at = symbols.offset; at < symbols.offset + symbols.size; at += SYMBOL_BYTES) {
    const name = elf.readUInt32LE(at)
    if (NEW_NAMES.includes(text(namesAt + name))) elf.writeUInt32LE(name + '__isoc23_'.length, at)
  }
  const versions = versionsAt(elf, needed.offset)
  const nameOf = (at) => text(namesAt + elf.readUInt32LE(at + 8))
  for (const at of versions) {
    const old = versions.find((other) => nameOf(other) === VERSIONS.get(nameOf(at)))
    if (old === undefined) continue
    elf.copy(elf, at, old, old + 4) // The hash.
    elf.copy(elf, at + 8, old + 8, old + 12) // The name.
  }
  return elf
}

function sectionsOf(elf) {
  const start = Number(elf.readBigUInt64LE(40))
  return Array.from({ length: elf.readUInt16LE(60) }, (_, i) => {
    const at = start + i * SECTION_BYTES
    return {
      type: elf.readUInt32LE(at + 4),
      offset: Number(elf.readBigUInt64LE(at + 24)),
      size: Number(elf.readBigUInt64LE(at + 32)),
      link: elf.readUInt32LE(at + 40),
    }
  })
}

/** Where each version that is asked for stands: a list of libraries, each with a list of its own. */
function versionsAt(elf, start) {
  const found = []
  for (let library = start, next = -1; next !== 0; library += next) {
    let at = library + elf.readUInt32LE(library + 8)
    for (let step = -1; step !== 0; at += step) {
      found.push(at)
      step = elf.readUInt32LE(at + 12)
    }
    next = elf.readUInt32LE(library + 12)
  }
  return found
}
