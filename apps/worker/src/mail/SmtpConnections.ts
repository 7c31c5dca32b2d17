import type { CampaignId } from "@outreach/domain/Identifier"
import type { SendingLease } from "@outreach/domain/mail/Mailer"
import type { SmtpSession } from "@outreach/mail/SmtpSession"
import { Clock, Effect } from "effect"

/** A slot for one connection to the SMTP server. */
export interface SmtpConnection {
  session: SmtpSession | undefined
  sendingFor: CampaignId | undefined
  idleTimer?: NodeJS.Timeout
}

/** A message's use of a connection. The next message may use the connection before this outcome is recorded. */
export interface SmtpTurn {
  readonly connection: SmtpConnection
  isReleased: boolean
}

interface Waiter {
  readonly campaignId: CampaignId
  readonly take: (turn: SmtpTurn | undefined) => void
}

/** Maximum number of started, unrecorded messages per open connection. A killed process repeats at most these. */
const UNRECORDED_PER_CONNECTION = 2

/** Idle connections are closed before the server closes them (RFC 5321, 4.5.3.2.7: after five minutes). */
const IDLE_MS = 240_000

/**
 * Shares connections among messages in turn, at most `maxPerCampaign` per campaign, so that a campaign with slow replies
 * doesn't block the others.
 */
export class SmtpConnections {
  readonly #connections: ReadonlyArray<SmtpConnection>
  readonly #maxPerCampaign: number
  readonly #waiters = new Set<Waiter>()
  #unrecorded = 0

  constructor(size: number, maxPerCampaign: number) {
    this.#connections = Array.from({ length: size }, () => ({
      session: undefined,
      sendingFor: undefined,
    }))
    this.#maxPerCampaign = maxPerCampaign
  }

  /** Waits for a connection; returns undefined if none is free before `beginBy`. */
  take({ campaignId, beginBy }: SendingLease): Effect.Effect<SmtpTurn | undefined> {
    return Effect.flatMap(Clock.currentTimeNanos, (now) =>
      Effect.callback((resume) => {
        if (now > beginBy) return resume(Effect.succeed(undefined))
        const free = this.#free(campaignId)
        if (free !== undefined) return resume(Effect.succeed(this.#occupy(free, campaignId)))
        const end = () => {
          clearTimeout(timer)
          this.#waiters.delete(waiter)
        }
        const waiter: Waiter = {
          campaignId,
          take: (turn) => {
            end()
            resume(Effect.succeed(turn))
          },
        }
        const timer = setTimeout(() => waiter.take(undefined), Number((beginBy - now) / 1_000_000n) + 1)
        this.#waiters.add(waiter)
        return Effect.sync(end)
      }),
    )
  }

  /** Frees the connection for another message before this outcome is recorded. */
  release(turn: SmtpTurn): void {
    // From then on, another message may use the connection.
    if (turn.isReleased) return
    turn.isReleased = true
    const { connection } = turn
    connection.sendingFor = undefined
    const { session } = connection
    if (session?.isOpen) connection.idleTimer = setTimeout(() => session.quit(), IDLE_MS).unref()
    this.#serve()
  }

  /** Notes that the outcome of a message was recorded, or never will be. */
  recorded(turn: SmtpTurn): void {
    this.#unrecorded -= 1
    this.release(turn)
    this.#serve()
  }

  close(): void {
    for (const { session, idleTimer } of this.#connections) {
      clearTimeout(idleTimer)
      session?.close()
    }
  }

  #serve(): void {
    for (const waiter of this.#waiters) {
      const free = this.#free(waiter.campaignId)
      if (free !== undefined) waiter.take(this.#occupy(free, waiter.campaignId))
    }
  }

  #free(campaignId: CampaignId): SmtpConnection | undefined {
    let busy = 0
    let open = 0
    let free: SmtpConnection | undefined
    for (const connection of this.#connections) {
      if (connection.sendingFor === campaignId) busy += 1
      if (connection.sendingFor !== undefined || connection.session?.isOpen) open += 1
      if (connection.sendingFor !== undefined) continue
      // Prefers an open connection.
      if (free === undefined || (!free.session?.isOpen && connection.session?.isOpen)) free = connection
    }
    if (free === undefined || busy >= this.#maxPerCampaign) return
    const openThen = free.session?.isOpen ? open : open + 1
    return this.#unrecorded < UNRECORDED_PER_CONNECTION * openThen ? free : undefined
  }

  #occupy(connection: SmtpConnection, campaignId: CampaignId): SmtpTurn {
    clearTimeout(connection.idleTimer)
    connection.sendingFor = campaignId
    this.#unrecorded += 1
    return { connection, isReleased: false }
  }
}
