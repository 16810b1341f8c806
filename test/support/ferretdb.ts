// FerretDB 1.24, which speaks MongoDB's protocol over PostgreSQL, built with Go and kept between
// runs. It reads a document and then writes it, so two updates of one document can both find it as
// it was (`ferretdb.test.ts` shows that of the server as it is). The one built here can do what
// MongoDB always does: with FERRETDB_ONE_AT_A_TIME in its environment each update, of a command of
// many too, waits its turn.

import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './packed-package.ts'

const MODULE = 'github.com/FerretDB/FerretDB'
const VERSION = 'v1.24.2'
const CACHE = join(ROOT, 'node_modules/.cache/cronfence', `ferretdb-${VERSION}`)

/** A line of the server's source, and what is put after it. */
interface Addition {
  readonly file: string
  readonly after: string
  readonly text: string
}

const ADDITIONS: readonly Addition[] = [
  {
    file: 'internal/handler/msg_findandmodify.go',
    after: 'params *common.FindAndModifyParams) (*findAndModifyResult, error) {',
    text: 'defer oneAtATime()()',
  },
  {
    file: 'internal/handler/msg_update.go',
    after: 'for _, u := range params.Updates {',
    text: 'done := oneAtATime()\ndefer done()',
  },
  {
    file: 'internal/handler/msg_update.go',
    after: 'result, err := common.UpdateDocument(ctx, c, "update", iter, &u)',
    // Without the first a connection to PostgreSQL is kept for each update until the last is made,
    // and a command of many waits for one of them forever.
    text: 'closer.Close()\ndone()',
  },
  {
    file: 'internal/handler/msg_delete.go',
    after: 'p *common.Delete) (int32, error) {',
    text: 'defer oneAtATime()()',
  },
]

const ONE_AT_A_TIME = `package handler

import (
	"os"
	"sync"
)

var turn sync.Mutex

func oneAtATime() func() {
	if os.Getenv("FERRETDB_ONE_AT_A_TIME") == "" {
		return func() {}
	}
	turn.Lock()
	return sync.OnceFunc(turn.Unlock)
}
`

const execute = promisify(execFile)

/** The path of the program. Fails, and says what to do, when there can be none. */
export async function ferretdbProgram(): Promise<string> {
  const built = join(CACHE, 'ferretdb')
  if (!existsSync(built)) await build(built)
  return built
}

async function build(built: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  // Under another name first, so that a build that was cut short is not taken for a program.
  const folder = mkdtempSync(join(CACHE, 'build-'))
  try {
    const module = ['mod', 'download', '-json', `${MODULE}@${VERSION}`]
    const { stdout } = await execute('go', module, { cwd: folder })
    const source = join(folder, 'source')
    cpSync((JSON.parse(stdout) as { Dir: string }).Dir, source, { recursive: true })
    await execute('chmod', ['-R', 'u+w', source])
    for (const addition of ADDITIONS) add(source, addition)
    writeFileSync(join(source, 'internal/handler/one_at_a_time.go'), ONE_AT_A_TIME)
    writeFileSync(join(source, 'build/version/version.txt'), VERSION)
    const env = { ...process.env, CGO_ENABLED: '0' }
    const program = join(folder, 'ferretdb')
    await execute('go', ['build', '-trimpath', '-o', program, './cmd/ferretdb'], {
      cwd: source,
      env,
    })
    renameSync(program, built)
  } catch (cause) {
    throw new Error(
      'The MongoDB tests need a server. Put mongod on PATH, or install Go 1.22 or later ' +
        `(https://go.dev/dl), with which FerretDB ${VERSION} is built once, or set ` +
        'CRONFENCE_TEST_MONGO_URL to the address of a server',
      { cause },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function add(source: string, { file, after, text }: Addition): void {
  const path = join(source, file)
  const [before, rest, ...more] = readFileSync(path, 'utf8').split(after)
  if (rest === undefined || more.length > 0) throw new Error(`${file}: not once there: ${after}`)
  writeFileSync(path, `${before}${after}\n${text}\n${rest}`)
}
