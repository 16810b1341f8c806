/** The bundler and the test runner hand a `.wasm` import over as hexadecimal text. */
declare module '*.wasm' {
  const hex: string
  export default hex
}
