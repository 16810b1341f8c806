/** The bundler and the test runner hand a `.wasm` import over as base64 text. */
declare module '*.wasm' {
  const base64: string
  export default base64
}
