import { isSuitable, type TargetSession } from "./DatabaseAddress.ts"
import { MessageScanner, readField } from "./MessageScanner.ts"
import { LIFT_TIME_LIMIT } from "./sessionSettings.ts"
import { readParameter } from "./startSession.ts"

/** Follows a session by its messages in both directions. */
export class SessionTracker {
  /** Start of the wait for a response, by `performance.now()`; undefined if there is none. */
  waitingSince: number | undefined
  /** Whether the pending response could confirm a commit. */
  mayCommit = false
  /** Whether the session disabled the server's time limit. */
  hasLiftedLimit = false
  private unanswered = 0
  private isInTransaction = false
  /** Prepared statements that commit, by name: explicitly, or outside of a transaction. */
  private readonly writes = new Map<string, "commit" | "write">()
  /** SQLSTATE that closes the connection after its transaction. */
  private leavingFor: string | undefined
  private readonly scanner = new MessageScanner((kind, body) => this.onMessage(kind, body))
  private readonly target: TargetSession
  private readonly parameters: Map<string, string>
  private readonly end: (code: string, message: string) => void

  /** `end` is called when the connection must not be used any more. */
  constructor(target: TargetSession, parameters: Map<string, string>, end: (code: string, message: string) => void) {
    this.target = target
    this.parameters = parameters
    this.end = end
  }

  /** Counts the expected replies of a request, and notes whether it may commit. `chunk` contains whole messages. */
  noteRequest(chunk: Buffer): void {
    let replies = 0
    for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readUInt32BE(at + 1)) {
      const kind = chunk[at]
      if (kind === SYNC || kind === QUERY) replies++
      if (kind === PARSE || kind === BIND || kind === CLOSE) {
        this.noteStatement(kind, chunk.subarray(at + 5, at + 1 + chunk.readUInt32BE(at + 1)))
      }
    }
    if (this.unanswered === 0 && replies > 0) this.waitingSince = performance.now()
    this.unanswered += replies
  }

  /** Processes received bytes. Throws `SocketError` on invalid input. */
  noteResponse(chunk: Buffer, at: number): void {
    if (this.waitingSince !== undefined) this.waitingSince = at
    this.scanner.scan(chunk)
  }

  private noteStatement(kind: number, body: Buffer): void {
    // PARSE contains name and text; BIND portal and name; CLOSE an S and the name.
    const end = body.indexOf(0)
    switch (kind) {
      case PARSE: {
        const text = body.toString("latin1", end + 1)
        if (text.includes(LIFT_TIME_LIMIT)) this.hasLiftedLimit = true
        const kind = /^\s*commit\b/i.test(text)
          ? "commit"
          : /\b(?:insert|update|delete)\b/i.test(text)
            ? "write"
            : undefined
        if (kind === undefined) this.writes.delete(body.toString("latin1", 0, end))
        else this.writes.set(body.toString("latin1", 0, end), kind)
        return
      }
      case BIND: {
        const found = this.writes.get(body.toString("latin1", end + 1, body.indexOf(0, end + 1)))
        if (found === "commit" || (found === "write" && !this.isInTransaction)) this.mayCommit = true
        return
      }
      case CLOSE:
        this.writes.delete(body.toString("latin1", 1, end))
    }
  }

  private onMessage(kind: string, body: Buffer): void {
    switch (kind) {
      case "S":
        readParameter(body, this.parameters)
        if (!isSuitable(this.target, this.parameters)) this.leavingFor = "25006"
        return
      case "N":
        // The server reports success next, although the transaction may be on no other machine. The routine's name isn't translated.
        if (readField(body, "R") === "SyncRepWaitForLSN") {
          this.end("COMMIT_UNCERTAIN", "A commit did not wait for its standby")
        }
        return
      case "E":
        this.noteError(readField(body, "C") ?? "")
        return
      case "Z":
        this.unanswered = Math.max(0, this.unanswered - 1)
        if (this.unanswered === 0) {
          this.waitingSince = undefined
          this.mayCommit = false
        }
        this.isInTransaction = body[0] !== IDLE
        if (this.leavingFor === undefined || this.isInTransaction) return
        // After the driver has read the statement's failure.
        setImmediate(this.end, this.leavingFor, "The server is not, or no longer, the one to use")
    }
  }

  /** Closes the connection if an error means that another server is the right one, or that this one shuts down. */
  private noteError(code: string): void {
    const isLeaving =
      /^(?:25006|57P0.|08...)$/.test(code) ||
      // Outside of a transaction, the driver itself repeats a statement with a stale plan.
      (code === "0A000" && this.isInTransaction) ||
      // A standby cancels statements that conflict with its replay.
      (/^40(?:001|P01)$/.test(code) && this.parameters.get("in_hot_standby") === "on")
    if (isLeaving) this.leavingFor = code
  }
}

const BIND = "B".charCodeAt(0)
const CLOSE = "C".charCodeAt(0)
const IDLE = "I".charCodeAt(0)
const PARSE = "P".charCodeAt(0)
const QUERY = "Q".charCodeAt(0)
const SYNC = "S".charCodeAt(0)
