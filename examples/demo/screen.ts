// What the demo shows: a table that is drawn again on a terminal, and plain lines elsewhere.

import type { DemoEvent } from './replica.ts'
import { TASKS } from './tasks.ts'

interface Row {
  nextRunAt: number | null | undefined
  lastSlot: number | undefined
  by: string
  token: number
  runs: number
  missed: number
  running: boolean
}

const NOTES_MAX = 8
const REDRAW_MS = 250

/** Shows what replicas tell. */
export class Screen {
  readonly #rows = new Map<string, Row>()
  readonly #notes: string[] = []
  readonly #isTerminal = process.stdout.isTTY === true
  readonly #title: string
  #timer: NodeJS.Timeout | undefined

  constructor(title: string) {
    this.#title = title
    for (const { id } of TASKS) this.#rows.set(id, newRow())
  }

  open(): void {
    if (!this.#isTerminal) {
      console.log(this.#title)
      return
    }
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS)
    this.#draw()
  }

  close(): void {
    clearInterval(this.#timer)
    if (this.#isTerminal) this.#draw()
  }

  tell(replica: string, event: DemoEvent): void {
    if (event.type === 'note') {
      this.note(`${replica}  ${event.text}`)
      return
    }
    const row = this.#rows.get(event.taskId)
    if (!row) return
    switch (event.type) {
      case 'next':
        row.nextRunAt = event.nextRunAt
        break
      case 'start':
        Object.assign(row, { running: true, by: replica, token: event.token })
        row.lastSlot = event.scheduledAt
        row.runs++
        if (event.missed) row.missed++
        this.#line(
          `${replica}  ${event.taskId} runs slot ${iso(event.scheduledAt)}, ` +
            `token ${event.token}, ${event.at - event.scheduledAt} ms late` +
            `${event.missed ? ', missed' : ''}`,
        )
        break
      case 'end':
        row.running = false
        if (event.result !== 'done') this.note(`${replica}  ${event.taskId} ${event.result}`)
    }
  }

  /** A line for people, below the table or by itself. */
  note(text: string): void {
    this.#notes.push(`${iso(Date.now())}  ${text}`)
    if (this.#notes.length > NOTES_MAX) this.#notes.shift()
    this.#line(text)
  }

  #line(text: string): void {
    if (!this.#isTerminal) console.log(`${iso(Date.now())}  ${text}`)
  }

  #draw(): void {
    const now = Date.now()
    const head = ['task', 'plan', 'next', 'last slot', 'by', 'token', 'runs', 'missed', '']
    const body = TASKS.map(({ id, plan, about }) => {
      const row = this.#rows.get(id) ?? newRow()
      return [
        id,
        plan,
        row.running ? 'running' : countdown(row.nextRunAt, now),
        row.lastSlot === undefined ? '-' : iso(row.lastSlot).slice(11, 19),
        row.by,
        row.token === 0 ? '-' : String(row.token),
        String(row.runs),
        String(row.missed),
        about,
      ]
    })
    const widths = head.map((title, column) =>
      Math.max(title.length, ...body.map((cells) => cells[column]?.length ?? 0)),
    )
    const columns = process.stdout.columns || 80
    const text = [head, ...body]
      .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
      .concat('', ...this.#notes)
      .map((line) => line.slice(0, columns))
    process.stdout.write(`\u001b[2J\u001b[H${this.#title}\n\n${text.join('\n')}\n`)
  }
}

function newRow(): Row {
  return {
    nextRunAt: undefined,
    lastSlot: undefined,
    by: '-',
    token: 0,
    runs: 0,
    missed: 0,
    running: false,
  }
}

function countdown(nextRunAt: number | null | undefined, now: number): string {
  if (nextRunAt === undefined) return '-'
  if (nextRunAt === null) return 'done'
  const seconds = Math.max(0, Math.ceil((nextRunAt - now) / 1000))
  return seconds < 3600 ? `in ${seconds} s` : `${iso(nextRunAt).slice(0, 16)}Z`
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}
