// Every table and statement of the store, for one table prefix. Names are from an allowlist and
// quoted, values are bound. A statement that may wait for a lock limits that wait itself: no
// setting of the session is relied on, so any pooler will do.

import type { Shapes, Tables } from '../tables.ts'

/** A name as PostgreSQL takes it literally. */
export const quoted = (name: string): string => `"${name}"`

/** Text as a literal, for remedies that people paste into a client. */
export const literal = (text: unknown): string => `'${String(text).replaceAll("'", "''")}'`

const TOKEN_MAX = Number.MAX_SAFE_INTEGER

// Beyond this a row is locked by somebody who does not belong here: our own statements are short.
const LOCK_WAIT_MS = 1000

// Evaluated once, before the rows are looked for; it lasts to the end of the statement's
// transaction.
const WITHIN_LOCK_WAIT = `(SELECT set_config('lock_timeout', '${LOCK_WAIT_MS}', true)) IS NOT NULL`

/** The shape of each table as `postgres-schema.ts` reads it. */
export function shapesOf({ schema, schedules, leases }: Tables): Shapes {
  return new Map([
    [schema, 'version integer NOT NULL, token_floor bigint NOT NULL'],
    [
      schedules,
      'id text "C" NOT NULL, kind text NOT NULL, spec text NOT NULL, next_run_at bigint, ' +
        'lease_owner text, lease_until bigint, fencing_token bigint NOT NULL, ' +
        'last_run_at bigint, updated_at bigint NOT NULL, deleted_at bigint',
    ],
    [
      leases,
      'name text "C" NOT NULL, owner text, lease_until bigint NOT NULL, ' +
        'fencing_token bigint NOT NULL',
    ],
  ])
}

/** Creates the table with the version. */
export const schemaTable = ({ schema }: Tables): readonly string[] => [
  `CREATE TABLE ${quoted(schema)} (
    version integer NOT NULL,
    token_floor bigint NOT NULL CHECK (token_floor BETWEEN 0 AND ${TOKEN_MAX})
  )`,
  `INSERT INTO ${quoted(schema)} (version, token_floor) VALUES (0, 0)`,
]

// What the store takes for a sound row: as a constraint, and again before a row is changed, because
// constraints can be dropped. Instants are within ±(2^53 - 1).
const isSound = (row: string): string => `
  ${row}.kind IN ('cron', 'every', 'delay') AND ${row}.spec <> '' AND ${row}.id <> ''
    AND (${row}.lease_owner IS NULL) = (${row}.lease_until IS NULL)
    AND ${row}.fencing_token BETWEEN 0 AND ${TOKEN_MAX}
    AND ${row}.updated_at BETWEEN -${TOKEN_MAX} AND ${TOKEN_MAX}
    AND coalesce(${row}.next_run_at, 0) BETWEEN -${TOKEN_MAX} AND ${TOKEN_MAX}
    AND coalesce(${row}.lease_until, 0) BETWEEN -${TOKEN_MAX} AND ${TOKEN_MAX}
    AND coalesce(${row}.last_run_at, 0) BETWEEN -${TOKEN_MAX} AND ${TOKEN_MAX}
    AND coalesce(${row}.lease_owner, '-') <> ''`

/** Migration n leads from schema version n to n + 1. Released ones never change. */
export const migrations: readonly ((tables: Tables) => readonly string[])[] = [
  ({ schedules, leases }) => [
    // No column but the key is indexed and pages keep room, so updates stay on their page.
    `CREATE TABLE ${quoted(schedules)} (
      id text COLLATE "C" NOT NULL PRIMARY KEY,
      kind text NOT NULL,
      spec text NOT NULL,
      next_run_at bigint,
      lease_owner text,
      lease_until bigint,
      fencing_token bigint NOT NULL,
      last_run_at bigint,
      updated_at bigint NOT NULL,
      deleted_at bigint,
      CHECK (${isSound(quoted(schedules))})
    ) WITH (fillfactor = 70)`,
    `CREATE TABLE ${quoted(leases)} (
      name text COLLATE "C" NOT NULL PRIMARY KEY,
      owner text,
      lease_until bigint NOT NULL,
      fencing_token bigint NOT NULL CHECK (fencing_token BETWEEN 0 AND ${TOKEN_MAX})
    ) WITH (fillfactor = 70)`,
  ],
]

/** The statements on schedules. Those for many take arrays, one element per id. */
export interface ScheduleStatements {
  /** $1 ids. */
  readonly get: string
  /** $1 the id after which the page starts, $2 its length. */
  readonly page: string
  /** $1 ids, $2 kinds, $3 specs, $4 slots, $5 now. Answers no row for an id whose row is bad. */
  readonly register: string
  /** $1 ids, $2 owner, $3 now, $4 the deadline. Answers the rows as they were before. */
  readonly claim: string
  /** $1 ids, $2 tokens, $3 deadlines. Answers the open claims as they were before. */
  readonly renew: string
  /** $1 ids, $2 tokens, $3 slots, $4 last slots, $5 kinds and $6 specs of the plans, $7 now. */
  readonly complete: string
  /** $1 id, $2 token or null, $3 now. Answers a row when one was deleted. */
  readonly delete: string
  /** $1 an instant. Answers the floor, raised to the highest token of older tombstones. */
  readonly raiseFloor: string
  /** $1 an instant, $2 the floor. Answers how many were deleted. */
  readonly purge: string
}

/**
 * A statement that locks the rows in `chosen`, applies `change` to those that are sound, and
 * answers all of them as they were, `is_changed` telling them apart. Locks are taken in the order
 * of the ids, so that two statements cannot wait for each other. `IN` looks ids up in a hash; the
 * planner, which expects one row of each part, would compare a join's thousand rows pair by pair.
 */
const changing = (
  table: string,
  { chosen, change, when = 'true' }: { chosen: string; change: string; when?: string },
) => `
  WITH chosen AS (${chosen}),
  changed AS (
    UPDATE ${table} AS t SET ${change}
    FROM chosen WHERE t.id = chosen.id AND ${when} AND ${isSound('chosen')} RETURNING t.id
  )
  SELECT chosen.*, chosen.id IN (SELECT id FROM changed) AS is_changed FROM chosen`

/** For one set of tables. */
export function scheduleStatements(tables: Tables): ScheduleStatements {
  const table = quoted(tables.schedules)
  const schema = quoted(tables.schema)
  return {
    get: `SELECT * FROM ${table} WHERE id = ANY ($1::text[]) AND deleted_at IS NULL`,
    page: `SELECT * FROM ${table} WHERE deleted_at IS NULL AND id > $1 ORDER BY id LIMIT $2`,
    register: registering(table, schema),
    // A row that is locked is being claimed, committed or changed by another: not waited for, since
    // a claim that waits may be granted when its lease is half over.
    claim: changing(table, {
      chosen: `
        SELECT * FROM ${table}
        WHERE id = ANY ($1::text[]) AND deleted_at IS NULL AND next_run_at <= $3
          AND (lease_until IS NULL OR lease_until <= $3)
        ORDER BY id FOR UPDATE SKIP LOCKED`,
      when: `chosen.fencing_token < ${TOKEN_MAX}`,
      change: `lease_owner = $2, lease_until = $4, updated_at = $3,
        fencing_token = t.fencing_token + 1`,
    }),
    renew: changing(table, {
      chosen: `
        SELECT t.*, r.deadline FROM ${table} AS t
        JOIN unnest($1::text[], $2::bigint[], $3::bigint[]) AS r(id, token, deadline)
          ON t.id = r.id AND t.fencing_token = r.token
        WHERE t.lease_until IS NOT NULL AND t.deleted_at IS NULL AND ${WITHIN_LOCK_WAIT}
        ORDER BY t.id FOR UPDATE OF t`,
      // Back in time only to hand the slot back: a renewal may come after a newer one.
      change: `lease_until = CASE WHEN chosen.deadline > chosen.next_run_at
        THEN greatest(chosen.deadline, chosen.lease_until) ELSE chosen.deadline END`,
    }),
    complete: changing(table, {
      chosen: `
        SELECT t.*, r.slot, r.last_slot, r.plan_kind, r.plan_spec FROM ${table} AS t
        JOIN unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
          AS r(id, token, slot, last_slot, plan_kind, plan_spec)
          ON t.id = r.id AND t.fencing_token = r.token
        WHERE t.lease_until IS NOT NULL AND t.deleted_at IS NULL AND ${WITHIN_LOCK_WAIT}
        ORDER BY t.id FOR UPDATE OF t`,
      change: `lease_owner = NULL, lease_until = NULL, updated_at = $7,
        last_run_at = coalesce(chosen.last_slot, t.last_run_at),
        next_run_at = CASE WHEN chosen.plan_kind <> t.kind OR chosen.plan_spec <> t.spec
          THEN t.next_run_at ELSE chosen.slot END`,
    }),
    delete: `
      UPDATE ${table} AS t SET deleted_at = $3, updated_at = $3, next_run_at = NULL,
        lease_owner = NULL, lease_until = NULL, last_run_at = NULL
      WHERE t.id = $1 AND t.deleted_at IS NULL AND ($2::bigint IS NULL OR t.fencing_token = $2)
        AND ${isSound('t')} AND ${WITHIN_LOCK_WAIT}
      RETURNING 1`,
    raiseFloor: `
      UPDATE ${schema} SET token_floor = greatest(token_floor, coalesce(
        (SELECT max(fencing_token) FROM ${table} AS t
          WHERE deleted_at < $1 AND ${isSound('t')}), 0))
      WHERE ${WITHIN_LOCK_WAIT} RETURNING token_floor`,
    purge: `
      WITH gone AS (
        DELETE FROM ${table} AS t WHERE deleted_at < $1 AND fencing_token <= $2 AND ${isSound('t')}
          AND ${WITHIN_LOCK_WAIT} RETURNING 1
      ) SELECT count(*) AS gone FROM gone`,
  }
}

const isSameAsExcluded =
  't.deleted_at IS NULL AND t.kind = excluded.kind AND t.spec = excluded.spec'

// Rows that are already as asked are only read, so that replicas that boot lock nothing. The rest
// is inserted or, where another was faster, changed by the same rule. The floor is locked, not just
// read: its newest value counts even if a purge wrote it after this statement began.
const registering = (table: string, schema: string): string => `
  WITH wanted AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
      AS r(id, kind, spec, next_run_at)
  ),
  same AS (
    SELECT t.* FROM ${table} AS t
    JOIN wanted AS w ON w.id = t.id AND w.kind = t.kind AND w.spec = t.spec
    WHERE t.deleted_at IS NULL
  ),
  written AS (
    INSERT INTO ${table} AS t (id, kind, spec, next_run_at, fencing_token, updated_at)
    SELECT w.id, w.kind, w.spec, w.next_run_at, floor.token_floor, $5
    FROM wanted AS w CROSS JOIN (SELECT token_floor FROM ${schema} LIMIT 1 FOR SHARE) AS floor
    WHERE w.id NOT IN (SELECT id FROM same) AND ${WITHIN_LOCK_WAIT}
    ORDER BY w.id
    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, spec = excluded.spec, deleted_at = NULL,
      next_run_at = CASE WHEN ${isSameAsExcluded} THEN t.next_run_at ELSE excluded.next_run_at END,
      updated_at = CASE WHEN ${isSameAsExcluded} THEN t.updated_at ELSE excluded.updated_at END
    WHERE ${isSound('t')}
    RETURNING t.*
  )
  SELECT * FROM same UNION ALL SELECT * FROM written`

/** The statements on named leases. */
export interface LeaseStatements {
  /** $1 name. */
  readonly get: string
  /** $1 name, $2 owner, $3 now, $4 the deadline. Answers the token, when it was won. */
  readonly acquire: string
  /** $1 name, $2 token, $3 now, $4 the deadline. Answers a row when it was renewed. */
  readonly renew: string
  /** $1 name, $2 token. */
  readonly release: string
}

/** For one set of tables. */
export function leaseStatements(tables: Tables): LeaseStatements {
  const table = quoted(tables.leases)
  return {
    get: `SELECT * FROM ${table} WHERE name = $1`,
    acquire: `
      INSERT INTO ${table} AS l (name, owner, lease_until, fencing_token)
      SELECT $1, $2, $4::bigint, 1 WHERE ${WITHIN_LOCK_WAIT}
      ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,
        lease_until = excluded.lease_until, fencing_token = l.fencing_token + 1
      WHERE (l.owner IS NULL OR l.owner = excluded.owner OR l.lease_until <= $3)
        AND l.fencing_token BETWEEN 0 AND ${TOKEN_MAX} - 1
      RETURNING fencing_token`,
    renew: `
      UPDATE ${table} SET lease_until = $4
      WHERE name = $1 AND fencing_token = $2 AND owner IS NOT NULL AND lease_until > $3
        AND ${WITHIN_LOCK_WAIT} RETURNING 1`,
    release: `
      UPDATE ${table} SET owner = NULL
      WHERE name = $1 AND fencing_token = $2 AND owner IS NOT NULL AND ${WITHIN_LOCK_WAIT}
      RETURNING 1`,
  }
}
