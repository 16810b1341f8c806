// The slow second implementation is itself proved: it gives the right values of all case files, and
// agrees with two scans that leave out everything that makes it faster than a scan.
import { Temporal } from '@js-temporal/polyfill'
import { describe, expect, test } from 'vitest'
import { type Case, expectedRuns, readCases, standardCases } from './cases.ts'
import { Reference } from './reference.ts'
import { matchesDay, readExpression } from './reference-expression.ts'
import { DAY_MS } from './reference-zone.ts'

const MINUTE_MS = 60_000

describe.each([...readCases()])('the reference on %s', (_file, cases) => {
  test('gives every value', () => {
    const wrong: string[] = []
    for (const one of standardCases(cases)) {
      if (one.error) {
        if (!isRefused(one)) wrong.push(`${one.id} was accepted`)
        continue
      }
      const reference = new Reference(one.expr, { timeZone: one.zone! })
      let from = Date.parse(one.from!)
      for (const run of expectedRuns(one)) {
        const got = reference.next(from)
        if (got !== run) wrong.push(`${one.id} ${one.expr}: next(${from}) is ${got}, not ${run}`)
        if (run === null) break
        if (reference.prev(run + 1) !== run) wrong.push(`${one.id}: prev after ${run}`)
        from = run
      }
    }
    expect(wrong).toEqual([])
  })

  function isRefused({ expr, zone = 'UTC' }: Case): boolean {
    if (!readExpression(expr)) return true
    try {
      new Reference(expr, { timeZone: zone }).matches(0)
      return false
    } catch (error) {
      return error instanceof RangeError
    }
  }
})

describe('the reference against a scan', () => {
  const days: [zone: string, day: string][] = [
    ['Europe/Madrid', '2024-03-31'],
    ['Europe/Madrid', '2024-10-27'],
    ['Australia/Lord_Howe', '2025-10-05'],
    ['Australia/Lord_Howe', '2025-04-06'],
    ['Antarctica/Troll', '2024-03-31'],
    ['Antarctica/Troll', '2024-10-27'],
    ['Pacific/Apia', '2011-12-30'],
    ['America/Santiago', '2024-09-08'],
    ['America/Santiago', '2024-04-07'],
    ['Asia/Tokyo', '2024-05-05'],
  ]

  test.each(days)('has the instants whose wall time matches, in %s on %s', (zone, day) => {
    const text = '7-59/13 * * * *'
    const expression = readExpression(text)!
    const wallClock = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    })
    const [from, until] = around(day)
    const scanned: number[] = []
    for (let at = from; at < until; at += MINUTE_MS) {
      const minute = Number(/:(\d\d):/.exec(wallClock.format(at))![1])
      if (expression.minute.includes(minute)) scanned.push(at)
    }
    expect(new Reference(text, { timeZone: zone }).between(from, until)).toEqual(scanned)
  })

  test.each(days)('has the compatible instant of every wall time, in %s on %s', (zone, day) => {
    const text = '*/10 0-3,23 5-31 * 0,2,4'
    const expression = readExpression(text)!
    const [from, until] = around(day)
    const scanned = new Set<number>()
    for (let wall = from - 3 * DAY_MS; wall < until + 3 * DAY_MS; wall += MINUTE_MS) {
      const clock = new Date(wall)
      if (!expression.minute.includes(clock.getUTCMinutes())) continue
      if (!expression.hour.includes(clock.getUTCHours())) continue
      if (!matchesDay(expression, Math.floor(wall / DAY_MS))) continue
      const plain = Temporal.PlainDateTime.from(clock.toISOString().slice(0, -1))
      scanned.add(plain.toZonedDateTime(zone).epochMilliseconds)
    }
    const runs = [...scanned].sort((a, b) => a - b).filter((run) => run >= from && run < until)
    expect(runs.length).toBeGreaterThan(20)
    const reference = new Reference(text, { timeZone: zone })
    expect(reference.between(from, until)).toEqual(runs)
    expect(walk(from - 1, until, (at) => reference.next(at))).toEqual(runs)
    expect(walk(until, from - 1, (at) => reference.prev(at)).reverse()).toEqual(runs)
  })

  function around(day: string): [from: number, until: number] {
    const midnight = Date.parse(day)
    return [midnight - 2 * DAY_MS, midnight + 3 * DAY_MS]
  }

  function walk(from: number, until: number, step: (at: number) => number | null): number[] {
    const runs: number[] = []
    const isInside = (at: number) => (from < until ? at < until : at > until)
    for (let at = step(from); at !== null && isInside(at); at = step(at)) runs.push(at)
    return runs
  }
})
