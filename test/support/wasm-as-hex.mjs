// Lets plain Node (with tsx) import the core as the bundler and the test runner do: a `.wasm` import
// is its bytes as hexadecimal text. Loaded by --import; for scripts only, the package has no such import.
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

/** A load hook of node:module. */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.wasm')) return nextLoad(url, context)
  const hex = await readFile(new URL(url), 'hex')
  const source = `export default ${JSON.stringify(hex)}`
  return { format: 'module', source, shortCircuit: true }
}

// Node runs the hooks on a thread of their own, where this file must not register itself again.
if (isMainThread) register(import.meta.url)
