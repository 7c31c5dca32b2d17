import { once } from "node:events"
import type { AddressInfo } from "node:net"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reportBounce, reportComplaint } from "@outreach/domain/mail/returned/Bounces"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { MAX_RETURNED_BYTES, parseReturned, readExcerpt } from "@outreach/mail/returned/parseReturned"
import { type Returned, readReturned } from "@outreach/mail/returned/readReturned"
import { addressCounts } from "@outreach/process/connectionLimit"
import { ListenError } from "@outreach/process/ListenError"
import { Effect, Metric } from "effect"
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server"
import { logFailure } from "../loops/retryForever.ts"
import { metrics } from "../metrics.ts"

/** Few messages arrive, from the relay or a few mail servers. */
const LIMITS = {
  maxClients: 100,
  maxRecipients: 100,
  maxCommandLength: 4096,
  size: MAX_RETURNED_BYTES,
  socketTimeout: 30_000,
  closeTimeout: 1000,
}
const MAX_MESSAGES_PER_CONNECTION = 100
const MAX_CONNECTIONS_PER_ADDRESS = 25
/** Total limit: slow senders can't keep a connection open by sending single bytes. */
const MAX_CONNECTION_MS = 300_000

/** Envelope of a received message. */
interface Envelope {
  /** Recipients of the sealed return paths it was sent to. */
  readonly recipients: ReadonlyArray<RecipientId>
  /** Recipients of the sealed unsubscribe addresses it was sent to. */
  readonly unsubscribing: ReadonlyArray<RecipientId>
  /** Its return path; empty for a message without reply address, such as a bounce. */
  readonly sender: string
}

/**
 * Receives bounces, complaints and unsubscribe requests over SMTP until interrupted: mail to the return path of a sent
 * message, to its unsubscribe address, and to the complaint addresses registered with mailbox providers.
 */
export const receiveBounces = Effect.fnUntraced(function* (options: {
  readonly host: string
  readonly port: number
  /** Maximum total duration of a connection. */
  readonly maxConnectionMs?: number
}) {
  const { host, port: wantedPort, maxConnectionMs = MAX_CONNECTION_MS } = options
  const returnPaths = yield* ReturnPaths
  const run = Effect.runPromiseWith(yield* Effect.context<Effect.Services<ReturnType<typeof receive>>>())
  const openConnection = addressCounts(MAX_CONNECTIONS_PER_ADDRESS)
  /** Callbacks that release the resources of a session. */
  const ends = new Map<string, () => void>()
  const connectionOf = (session: SMTPServerSession) =>
    [...server.connections].find((connection) => connection.session === session)
  const server: SMTPServer = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new SMTPServer({
          ...LIMITS,
          rejectOversized: true,
          hideENHANCEDSTATUSCODES: false,
          // STARTTLS would offer a self-signed certificate.
          disabledCommands: ["AUTH", "STARTTLS"],
          disableReverseLookup: true,
          onConnect: (session, done) => {
            const leave = openConnection(session.remoteAddress)
            if (leave === undefined) return done(smtpError(421, "Too many connections from your address"))
            // The command timeout restarts with every byte; this one doesn't.
            const end = () => connectionOf(session)?.send(421, "This took too long", false)
            const deadline = setTimeout(end, maxConnectionMs).unref()
            ends.set(session.id, () => {
              leave()
              clearTimeout(deadline)
            })
            done()
          },
          onClose: ({ id }) => {
            ends.get(id)?.()
            ends.delete(id)
          },
          onMailFrom: (_, session, done) =>
            done(
              (session.transaction ?? 1) > MAX_MESSAGES_PER_CONNECTION
                ? smtpError(421, "Too many messages on one connection")
                : null,
            ),
          onRcptTo: ({ address }, _, done) =>
            done(
              [returnPaths.read, returnPaths.readUnsubscribe].some((read) => read(address) !== undefined) ||
                returnPaths.isForComplaints(address)
                ? null
                : smtpError(550, "No such return path"),
            ),
          onData: (stream, session, done) => {
            const { mailFrom, rcptTo } = session.envelope
            const namedBy = (read: typeof returnPaths.read) => [
              ...new Set(rcptTo.flatMap(({ address }) => read(address) ?? [])),
            ]
            const envelope = {
              recipients: namedBy(returnPaths.read),
              unsubscribing: namedBy(returnPaths.readUnsubscribe),
              sender: mailFrom === false ? "" : mailFrom.address,
            }
            const finish = (rejection: Error | null) => {
              done(rejection)
              // The rest of an aborted message isn't read.
              if (!stream.readableEnded) connectionOf(session)?.close()
            }
            run(receive(stream, envelope)).then(finish, () => finish(smtpError(451, "Not now")))
          },
        }),
    ),
    (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void))),
  )
  server.on("error", () => {})
  server.listen(wantedPort, host)
  const settings = { hostSetting: "BOUNCE_SMTP_HOST", portSetting: "BOUNCE_SMTP_PORT" }
  yield* Effect.tryPromise({
    try: () => once(server.server, "listening"),
    catch: (error) => new ListenError({ host, port: wantedPort, ...settings }, error),
  })
  const { port } = server.server.address() as AddressInfo
  yield* Effect.logInfo("receiving bounces").pipe(Effect.annotateLogs({ host, port }))
  return yield* Effect.never
}, Effect.scoped)

/** Handles one message. Returns the reason for rejecting it, or null. The server itself rejects oversized messages. */
const receive = Effect.fnUntraced(
  function* (stream: SMTPServerDataStream, { recipients, unsubscribing, sender }: Envelope) {
    const raw = yield* Effect.promise(() => readExcerpt(stream))
    if (raw === undefined) return smtpError(552, "Too large")
    // As the final delivery server writes it (RFC 5321, 4.4): empty for a bounce.
    const returnPath = `Return-Path: <${sender}>\r\n`
    const message = yield* Effect.promise(() => parseReturned(Buffer.concat([Buffer.from(returnPath), raw])))
    const returned = message && readReturned(message)
    if (unsubscribing.length > 0) {
      // The address itself is the request. Apple Mail marks its message as an automatic reply, so only bounces are excluded.
      const isBounce = sender === "" && returned !== undefined && REPORTS.includes(returned.kind)
      if (!isBounce) yield* Effect.forEach(unsubscribing, unsubscribeSender, { discard: true })
      if (recipients.length === 0) return null
    }
    if (returned?.kind === "bounce") return yield* receiveBounce(returned, recipients)
    if (returned?.kind === "complaint") return yield* receiveComplaint(returned, recipients)
    yield* Metric.update(metrics.bounceReports.ignored, 1)
    return null
  },
  Effect.catchCause((cause) => Effect.as(logFailure("bounce handling failed", cause), smtpError(451, "Not now"))),
)

/** Unsubscribes a recipient after a message to the sealed unsubscribe address. */
const unsubscribeSender = Effect.fnUntraced(function* (recipientId: RecipientId) {
  const result = (yield* reportComplaint(recipientId, "opt-out")) === "recorded" ? "unsubscribed" : "unknown"
  yield* Metric.update(metrics.unsubscribeMails[result], 1)
  yield* (result === "unsubscribed" ? Effect.logInfo : Effect.logDebug)("mail to an address that unsubscribes").pipe(
    Effect.annotateLogs({ recipientId, result }),
  )
})

/** Messages about the delivery of another message. */
const REPORTS: ReadonlyArray<Returned["kind"]> = ["bounce", "delay", "delivered"]

type Kind<K extends Returned["kind"]> = Extract<Returned, { readonly kind: K }>

/** Looks up the recipient of a returned message by its seal. */
const sealedRecipient = ({ localParts }: Returned) =>
  ReturnPaths.useSync(({ readLocalPart }) => localParts.flatMap((localPart) => readLocalPart(localPart) ?? [])[0])

/** Handles a bounce. A bounce sent to a complaint address is trusted by the seal of the returned message. */
const receiveBounce = Effect.fnUntraced(function* (bounce: Kind<"bounce">, addressed: ReadonlyArray<RecipientId>) {
  const { verdict, rule, sureness } = bounce
  const sealed = yield* sealedRecipient(bounce)
  const recipients = addressed.length > 0 || sealed === undefined ? addressed : [sealed]
  if (recipients.length === 0) yield* Metric.update(metrics.bounceReports.unknown, 1)
  for (const recipientId of recipients) {
    const result = yield* reportBounce(recipientId, verdict)
    // The report arrived before our record of the message's acceptance.
    if (result === "early") return TRY_LATER
    yield* Metric.update(metrics.bounceReports[result], 1)
    const about = { recipientId, result, rule, sureness, ...(verdict._tag === "Refused" && { status: verdict.status }) }
    // An unknown format is logged as a warning.
    const log = verdict._tag === "Refused" ? Effect.logWarning : sureness === "guess" ? Effect.logInfo : Effect.logDebug
    yield* log("bounce reported").pipe(Effect.annotateLogs(about))
  }
  return null
})

/** Handles a complaint, trusted by the seal of the reported message, regardless of the address. */
const receiveComplaint = Effect.fnUntraced(function* (
  complaint: Kind<"complaint">,
  recipients: ReadonlyArray<RecipientId>,
) {
  const recipientId = (yield* sealedRecipient(complaint)) ?? recipients[0]
  const result = recipientId === undefined ? "unknown" : yield* reportComplaint(recipientId, complaint.feedbackType)
  yield* Metric.update(metrics.complaintReports[result], 1)
  yield* (result === "recorded" ? Effect.logInfo : Effect.logDebug)("complaint reported").pipe(
    Effect.annotateLogs({ result, ...(recipientId !== undefined && { recipientId }) }),
  )
  return null
})

const smtpError = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

const TRY_LATER = smtpError(451, "Try again later")
