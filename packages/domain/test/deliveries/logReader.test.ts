import { expect, it } from "vitest"
import { afterRead, afterWrite, begin, eventsOf, IDLE, type LogReader } from "../../src/deliveries/logReader.ts"

// The database row of a reader, as changed by `begin_calls`, `write_outcomes`, `take_endpoints` and `hand_over`.

/** The part of a reader's row that the protocol uses. */
interface ReaderRow<Event> {
  /** Number of log events that the row has passed: calls may have started for each of them. */
  readonly begun: number
  /** The unsettled ones. */
  readonly open: ReadonlyArray<Event>
  /** The worker that may write. */
  readonly owner: string | null
}

/** Reads the next events, and records that calls for them may start. */
const beginCalls = (row: ReaderRow<number>): ReaderRow<number> => {
  const next = Array.from({ length: Math.min(BLOCK, EVENTS - row.begun) }, (_, i) => row.begun + i)
  return { ...row, begun: row.begun + next.length, open: [...row.open, ...next] }
}

/** Records that events are settled. */
const close = <Event>(row: ReaderRow<Event>, settled: ReadonlyArray<Event>): ReaderRow<Event> => ({
  ...row,
  open: row.open.filter((event) => !settled.includes(event)),
})

/** Passes a row to a new owner or to none. Returns the unsettled events, which become delivery rows. */
const passOn = <Event>(
  row: ReaderRow<Event>,
  owner: string | null,
): readonly [row: ReaderRow<Event>, open: ReadonlyArray<Event>] => [{ ...row, open: [], owner }, row.open]

/** Two blocks of events and one more, so that there are several reads. */
const EVENTS = 3
const BLOCK = 2
const DEPTH = 12

/** A worker's memory, and whether other workers consider it alive. */
interface Worker {
  readonly isAlive: boolean
  readonly isLeaseHeld: boolean
  /** Undefined if it doesn't own the endpoint, as far as it knows. */
  readonly reader: LogReader<number> | undefined
  /** Called events of its reader whose calls have ended. */
  readonly answered: ReadonlyArray<number>
  /** Calls in flight for rows that it took or kept. */
  readonly rows: ReadonlyArray<number>
  /** Called rows with unwritten outcomes. */
  readonly answeredRows: ReadonlyArray<number>
}

interface World {
  readonly row: ReaderRow<number>
  /** Events with a delivery row, and the worker that may be calling. */
  readonly deliveries: ReadonlyArray<{ readonly event: number; readonly owner: string | null }>
  readonly settled: ReadonlyArray<number>
  /** Number of calls to the partner for each event. */
  readonly calls: ReadonlyArray<number>
  /** Number of times each event was taken from a worker that may have called. */
  readonly mayRepeat: ReadonlyArray<number>
  /** Whether a worker got no reply to a reading, which may also run after it gave it up. It happens once. */
  readonly isReplyLost: boolean
  readonly workers: Readonly<Record<string, Worker>>
}

const UNOWNED = { reader: undefined, answered: [] }
const FRESH: Worker = { isAlive: true, isLeaseHeld: true, ...UNOWNED, rows: [], answeredRows: [] }
const START: World = {
  row: { begun: 0, open: [], owner: null },
  deliveries: [],
  settled: [],
  calls: Array(EVENTS).fill(0),
  mayRepeat: Array(EVENTS).fill(0),
  isReplyLost: false,
  workers: { a: FRESH, b: FRESH },
}

const countOne = (counts: ReadonlyArray<number>, event: number) =>
  counts.map((count, i) => (i === event ? count + 1 : count))
const withWorker = (world: World, name: string, changes: Partial<Worker>): World => ({
  ...world,
  workers: { ...world.workers, [name]: { ...world.workers[name]!, ...changes } },
})
const inFlight = ({ reader, answered }: Worker) => reader?.called.filter((event) => !answered.includes(event)) ?? []
/** Owner of rows taken from a lost worker, which may come back. */
const NOBODY = "nobody"
const isLost = (world: World, owner: string | null) =>
  owner === NOBODY || (owner !== null && !world.workers[owner]!.isLeaseHeld)

/** All states reachable by one step of a worker or of the environment. */
const successors = (world: World): ReadonlyArray<World> =>
  Object.keys(world.workers).flatMap((name) => [...stepsOf(world, name), ...fatesOf(world, name)])

function* fatesOf(world: World, name: string): Generator<World> {
  const worker = world.workers[name]!
  if (worker.isAlive) yield withWorker(world, name, { ...FRESH, isAlive: false, isLeaseHeld: worker.isLeaseHeld })
  if (worker.isLeaseHeld) yield withWorker(world, name, { isLeaseHeld: false })
  // It was suspended, and continues.
  else if (worker.isAlive) yield withWorker(world, name, { isLeaseHeld: true })
  // A new worker, when no row has this one's token.
  const isGone = !worker.isAlive && !worker.isLeaseHeld && world.row.owner !== name
  if (isGone && !world.deliveries.some(({ owner }) => owner === name)) yield withWorker(world, name, FRESH)
}

function* stepsOf(world: World, name: string): Generator<World> {
  const worker = world.workers[name]!
  if (!worker.isAlive) return
  const { row } = world
  const { reader, answered } = worker

  // Take an unowned row, or a lost worker's.
  if (worker.isLeaseHeld && reader === undefined && (row.owner === null || isLost(world, row.owner))) {
    const before = row.owner
    const [taken, open] = passOn(row, name)
    yield withWorker(
      {
        ...world,
        row: taken,
        deliveries: [
          ...world.deliveries.map((each) =>
            before !== null && each.owner === before ? { ...each, owner: NOBODY } : each,
          ),
          ...open.map((event) => ({ event, owner: NOBODY })),
        ],
      },
      name,
      { reader: IDLE },
    )
  }
  // Take back events that lost workers may have called for.
  if (row.owner === name) {
    const lost = world.deliveries.filter(({ owner }) => isLost(world, owner))
    if (lost.length > 0) {
      yield {
        ...world,
        deliveries: world.deliveries.map((each) => (lost.includes(each) ? { ...each, owner: null } : each)),
        mayRepeat: lost.reduce((counts, { event }) => countOne(counts, event), world.mayRepeat),
      }
    }
  }
  // Take a delivery row.
  const free = world.deliveries.find(({ owner }) => owner === null)
  if (row.owner === name && worker.isLeaseHeld && reader !== undefined && free !== undefined) {
    yield withWorker(
      { ...world, deliveries: world.deliveries.map((each) => (each === free ? { ...each, owner: name } : each)) },
      name,
      { rows: [...worker.rows, free.event] },
    )
  }
  // Call for a row.
  for (const event of worker.rows) {
    yield withWorker({ ...world, calls: countOne(world.calls, event) }, name, {
      rows: worker.rows.filter((each) => each !== event),
      answeredRows: [...worker.answeredRows, event],
    })
  }
  // Write the outcomes of rows that it still owns.
  if (worker.answeredRows.length > 0) {
    const ours = [...new Set(worker.answeredRows)].filter((event) =>
      world.deliveries.some((each) => each.event === event && each.owner === name),
    )
    yield withWorker(
      {
        ...world,
        deliveries: world.deliveries.filter(({ event }) => !ours.includes(event)),
        settled: [...world.settled, ...ours],
      },
      name,
      { answeredRows: [] },
    )
  }
  if (reader === undefined) return

  // Read on, and what the row has in addition to the worker.
  if (worker.isLeaseHeld && reader.waiting.length === 0) {
    if (row.owner !== name) yield withWorker(world, name, UNOWNED)
    else {
      const begun = beginCalls(row)
      const found = begun.open.filter((event) => !eventsOf(reader).includes(event))
      if (found.length > 0) yield withWorker({ ...world, row: begun }, name, { reader: afterRead(reader, found) })
      if (begun.begun > row.begun && !world.isReplyLost) yield { ...world, row: begun, isReplyLost: true }
    }
  }
  // Start a call, possibly by a lost owner for earlier reads.
  if (reader.waiting.length > 0) {
    const [event] = reader.waiting
    yield withWorker({ ...world, calls: countOne(world.calls, event!) }, name, { reader: begin(reader) })
  }
  for (const event of inFlight(worker)) yield withWorker(world, name, { answered: [...answered, event] })
  // Write progress.
  if (answered.length > 0) {
    yield row.owner !== name
      ? withWorker(world, name, UNOWNED)
      : withWorker({ ...world, row: close(row, answered), settled: [...world.settled, ...answered] }, name, {
          reader: afterWrite(reader, (event) => answered.includes(event)),
          answered: [],
        })
  }
  // Release the endpoint; calls in flight and their outcomes become the worker's rows.
  if (row.owner === name) {
    const { called } = reader
    const [given, open] = passOn(row, null)
    yield withWorker(
      {
        ...world,
        row: given,
        deliveries: [
          ...world.deliveries.map((each) =>
            each.owner === name && worker.rows.includes(each.event) ? { ...each, owner: null } : each,
          ),
          ...open.map((event) => ({ event, owner: called.includes(event) ? name : null })),
        ],
      },
      name,
      { ...UNOWNED, rows: [], answeredRows: [...worker.answeredRows, ...called] },
    )
  }
}

const check = (before: World, after: World) => {
  const { row, deliveries, settled, calls, mayRepeat } = after
  if (row.begun < before.row.begun) fail("the position went back", before, after)
  for (let event = 0; event < EVENTS; event++) {
    // No event is lost or duplicated: it is ahead in the log, unsettled, in a row, or settled.
    const places = [
      event >= row.begun,
      row.open.includes(event),
      ...deliveries.filter((each) => each.event === event).map(() => true),
      ...settled.filter((each) => each === event).map(() => true),
    ]
    if (places.filter(Boolean).length !== 1) fail(`event ${event} is not in one place`, before, after)
    // No call happens before the row says that it may, and repetitions only after a takeover from a worker that may have called.
    if (event >= row.begun && calls[event] !== 0) fail(`event ${event} was called ahead of the row`, before, after)
    const losers = Object.entries(after.workers).filter(
      ([name, worker]) =>
        name !== row.owner && [...inFlight(worker), ...(worker.reader?.waiting ?? [])].includes(event),
    ).length
    if (calls[event]! - 1 > mayRepeat[event]! + losers + unrecovered(after, event)) {
      fail(`event ${event} was repeated without need`, before, after)
    }
    // No row waits for a worker that doesn't know it.
    for (const each of deliveries) {
      const owner = each.event === event && each.owner !== null ? after.workers[each.owner] : undefined
      if (owner?.isAlive && ![...owner.rows, ...owner.answeredRows].includes(event)) {
        fail(`event ${event} waits for a worker that knows nothing of it`, before, after)
      }
    }
    if (settled.includes(event) && calls[event] === 0) fail(`event ${event} was settled without a call`, before, after)
  }
}

const fail = (what: string, before: World, after: World): never => {
  throw new Error(`${what}:\n${JSON.stringify(before)}\n${JSON.stringify(after)}`)
}

const waitingOf = ({ workers }: World) =>
  Object.values(workers).reduce((sum, { reader }) => sum + (reader?.waiting.length ?? 0), 0)

/** Whether a lost worker's call for an event hasn't been taken back yet. */
const unrecovered = ({ deliveries }: World, event: number) =>
  deliveries.some((each) => each.event === event && each.owner !== null) ? 1 : 0

it(`two workers that read the log of one endpoint lose no events, settle each once, and repeat only the deliveries of a lost worker, even if a reading got no reply, in every order of ${DEPTH} steps`, () => {
  let worlds = new Map([[JSON.stringify(START), START]])
  const seen = new Set(worlds.keys())
  let isEverythingSettled = false
  let isRepeated = false
  let isFoundAgain = false
  for (let depth = 0; depth < DEPTH; depth++) {
    const next = new Map<string, World>()
    for (const world of worlds.values()) {
      for (const successor of successors(world)) {
        const key = JSON.stringify(successor)
        if (seen.has(key)) continue
        seen.add(key)
        check(world, successor)
        isEverythingSettled ||= successor.settled.length === EVENTS
        isRepeated ||= successor.calls.some((count) => count > 1)
        isFoundAgain ||= successor.row.begun === world.row.begun && waitingOf(successor) > waitingOf(world)
        next.set(key, successor)
      }
    }
    worlds = next
  }
  expect(isEverythingSettled).toBe(true)
  expect(isRepeated).toBe(true)
  expect(isFoundAgain).toBe(true)
})
