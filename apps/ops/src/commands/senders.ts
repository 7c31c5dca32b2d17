import { DomainName, isAscii } from "@outreach/domain/DomainName"
import { ProgramId, SenderId } from "@outreach/domain/Identifier"
import { Ramp } from "@outreach/domain/senders/Ramp"
import { DKIM_OVERLAP_DAYS, DKIM_RECORD_DAYS, domainOf } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { addSender, updateSender } from "@outreach/domain/senders/Senders"
import { noneOr } from "@outreach/domain/textSchema"
import { createResolver } from "@outreach/mail/createResolver"
import { Clock, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { changing, reading } from "../audit/Access.ts"
import { organization } from "../inputs/commonFlags.ts"
import { dnsServer } from "../inputs/dnsServer.ts"
import { NothingToUpdate } from "../inputs/NothingToUpdate.ts"
import { parsedArgument, parsedFlag } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { confirm, yes } from "../output/confirm.ts"
import { Output, printList, printRecord, printToStderr } from "../output/Output.ts"
import { senderRepository } from "../senderRepository.ts"
import { formatMailbox, formatRamp, printSender } from "../senders/printSender.ts"

// Loaded when a flag is given, because they load libraries.
const senderMailbox = Effect.promise(async () => (await import("@outreach/mail/mailFrom")).senderMailbox)
// Otherwise its header would need SMTPUTF8 on every server.
const asciiAddress = Effect.promise(async () => {
  const { EmailAddress } = await import("@outreach/domain/recipients/EmailAddress")
  return EmailAddress.check(Schema.makeFilter(isAscii)).annotate({ expected: "an e-mail address in ASCII" })
})

const senderId = parsedArgument("sender", SenderId, "The sender's id, snd_…")

/** A label of a domain name, or several. */
const Selector = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i),
).annotate({ expected: "a selector, such as s2026" })

const from = parsedFlag(
  "from",
  senderMailbox,
  "Who the e-mails come from, such as 'Acme Health <outreach@acme.example>'",
)

const selector = parsedFlag(
  "selector",
  Selector,
  "The selector of the key (default the date and four random digits)",
).pipe(Flag.optional)

const dkimKey = Flag.String("dkim-key").pipe(
  Flag.withMetavar("file"),
  Flag.withDescription("The file of an RSA key that signs (default a new key)"),
  Flag.optional,
)

/** Reads the key file, or else makes a key. */
const keyPair = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isNone(file)) {
    const { generateDkimKeyPair } = yield* Effect.promise(() => import("@outreach/mail/dkimKeys"))
    return yield* generateDkimKeyPair
  }
  const { readDkimKey } = yield* Effect.promise(() => import("../senders/readDkimKey.ts"))
  return yield* readDkimKey(file.value)
})

const newSelector = Effect.gen(function* () {
  const date = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10).replaceAll("-", "")
  const uuid = yield* SecureRandom.SecureRandom.use((random) => random.uuidV7())
  return `s${date}-${uuid.slice(-4)}`
})

const newKey = Effect.fnUntraced(function* (input: {
  readonly selector: Option.Option<string>
  readonly dkimKey: Option.Option<string>
}) {
  return { ...(yield* keyPair(input.dkimKey)), selector: Option.getOrUndefined(input.selector) ?? (yield* newSelector) }
})

const PUBLISH = "\nPublish the DNS records, and then run `ops senders verify"

const add = changing(
  "add",
  {
    organization,
    program: parsedFlag(
      "program",
      ProgramId,
      "The program's id, pgm_… (default all programs that have none of their own)",
    ).pipe(Flag.optional),
    from,
    replyTo: parsedFlag("reply-to", asciiAddress, "Where replies go (default the From address)").pipe(Flag.optional),
    dkimDomain: parsedFlag("dkim-domain", DomainName, "The domain that signs (default that of the From address)").pipe(
      Flag.optional,
    ),
    bounceDomain: parsedFlag(
      "bounce-domain",
      DomainName,
      "The domain of the return paths, such as bounces.acme.example (default BOUNCE_DOMAIN)",
    ).pipe(Flag.optional),
    ramp: parsedFlag(
      "ramp",
      Ramp,
      "The most messages on each of the first days of UTC on which it sends, such as 200,400,800 (default any number)",
    ).pipe(Flag.optional),
    selector,
    dkimKey,
  },
  Effect.fn("ops.senders.add")(function* (input) {
    const sender = yield* addSender(
      {
        organizationId: input.organization,
        programId: Option.getOrNull(input.program),
        fromName: input.from.name,
        fromAddress: input.from.address,
        replyTo: Option.getOrNull(input.replyTo),
        dkimDomain: Option.getOrElse(input.dkimDomain, () => domainOf(input.from.address)),
        bounceDomain: Option.getOrNull(input.bounceDomain),
        ramp: Option.getOrNull(input.ramp),
      },
      yield* newKey(input),
    )
    yield* printSender(sender)
    yield* printToStderr(`${PUBLISH} ${sender.id}\`: nothing is sent in this name before.`)
  }),
).pipe(
  Command.withDescription(
    "Add the sender of an organization or of one of its programs, with a DKIM key, and print the DNS records to publish",
  ),
)

const list = reading(
  "list",
  { organization: organization.pipe(Flag.optional) },
  Effect.fn("ops.senders.list")(function* (input) {
    const senders = yield* (yield* SenderRepository).list(Option.getOrUndefined(input.organization))
    const rows = senders.map(({ keys, ...sender }) => ({
      ...sender,
      from: formatMailbox(sender.fromName, sender.fromAddress),
      selectors: keys.filter(({ isSigning }) => isSigning).map(({ selector }) => selector),
    }))
    const { json } = yield* Output
    const shown = rows.map((row) => ({ ...row, ramp: json ? row.ramp : formatRamp(row.ramp) }))
    yield* printList(shown, [
      "id",
      "organizationId",
      "programId",
      "from",
      "dkimDomain",
      "selectors",
      "bounceDomain",
      "liveSince",
      "ramp",
    ])
  }),
).pipe(
  Command.withDescription(
    "List the senders with the selectors that sign and the day of their ramp, oldest first; of one organization or of all",
  ),
)

const show = reading(
  "show",
  { senderId },
  Effect.fn("ops.senders.show")(function* (input) {
    yield* printSender(yield* (yield* SenderRepository).find(input.senderId))
  }),
).pipe(Command.withDescription("Show a sender, what each of its DKIM keys does, and the DNS records that it needs"))

const verify = changing(
  "verify",
  { senderId, dnsServer },
  Effect.fn("ops.senders.verify")(function* (input) {
    const sender = yield* (yield* SenderRepository).find(input.senderId)
    const { verifySender } = yield* Effect.promise(() => import("../senders/verifySender.ts"))
    const verified = yield* verifySender(sender, createResolver(Option.toArray(input.dnsServer)))
    if ((yield* Output).json) return yield* printRecord({ ...verified.sender, checks: verified.checks })
    const isNew = sender.liveSince === null || sender.keys.some(({ signsFrom }) => signsFrom === null)
    yield* printToStderr(
      isNew
        ? "\nWithin a minute, every worker sends in this name and signs with the newest key."
        : "\nThe DNS records are right.",
    )
  }),
).pipe(
  Command.withDescription(
    "Look up a sender's DNS records. If none is missing or wrong, its newest key signs from now on, and the sender is live",
  ),
)

const update = changing(
  "update",
  {
    senderId,
    from: from.pipe(Flag.optional),
    replyTo: parsedFlag(
      "reply-to",
      Effect.map(asciiAddress, (schema) => noneOr(schema)),
      "Where replies go, or none for the From address",
    ).pipe(Flag.optional),
    bounceDomain: parsedFlag(
      "bounce-domain",
      noneOr(DomainName),
      "The domain of the return paths, or none for BOUNCE_DOMAIN",
    ).pipe(Flag.optional),
    ramp: parsedFlag(
      "ramp",
      noneOr(Ramp),
      "The most messages on each of the next days of UTC on which it sends, beginning anew, or none for any number",
    ).pipe(Flag.optional),
    dnsServer,
  },
  Effect.fn("ops.senders.update")(function* ({ senderId, from, dnsServer, ...input }) {
    const changes = {
      ...pickDefined(input),
      ...(Option.isSome(from) && { fromName: from.value.name, fromAddress: from.value.address }),
    }
    if (Object.keys(changes).length === 0) {
      return yield* new NothingToUpdate({ flags: ["--from", "--reply-to", "--bounce-domain", "--ramp"] })
    }
    const { checkSender } = yield* Effect.promise(() => import("../senders/verifySender.ts"))
    const updated = yield* updateSender(senderId, changes, (changed) =>
      checkSender(changed, createResolver(Option.toArray(dnsServer))),
    )
    yield* printSender(updated)
    yield* printToStderr(
      updated.liveSince === null ? `${PUBLISH} ${senderId}\`.` : "\nThe change counts within a minute.",
    )
  }),
).pipe(
  Command.withDescription(
    "Change a sender; another DKIM domain needs another sender. A live one gets another domain only once its DNS records are found",
  ),
)

const rotateDkim = changing(
  "rotate-dkim",
  { senderId, selector, dkimKey },
  Effect.fn("ops.senders.rotateDkim")(function* (input) {
    yield* printSender(yield* (yield* SenderRepository).addKey(input.senderId, yield* newKey(input)))
    yield* printToStderr(
      `${PUBLISH} ${input.senderId}\`. From then on both keys sign, the older one for ${DKIM_OVERLAP_DAYS} days. Leave its record published for ${DKIM_RECORD_DAYS} days more.`,
    )
  }),
).pipe(
  Command.withDescription(
    "Add the DKIM key that will follow the one that signs, in place of one that signs nothing yet, and print its DNS record",
  ),
)

const remove = changing(
  "remove",
  { senderId, yes },
  Effect.fn("ops.senders.remove")(function* ({ senderId, yes }) {
    const senders = yield* SenderRepository
    const { organizationId, programId, fromAddress } = yield* senders.find(senderId)
    const fallback = programId === null ? "the deployment's sender" : "the organization's sender, or the deployment's"
    yield* confirm(
      `remove the sender ${senderId} (${fromAddress}) and its DKIM keys for good, which leaves its e-mails to ${fallback}`,
      {
        yes,
      },
    )
    yield* senders.remove(senderId)
    yield* printRecord({ id: senderId, organizationId, programId, removed: true })
  }),
).pipe(Command.withDescription("Remove a sender and its DKIM keys for good. Asks first, or needs --yes"))

/** `ops senders …` */
export const senders = Command.make("senders").pipe(
  Command.withDescription("In whose name e-mails are sent, and the DKIM keys that sign them"),
  Command.withSubcommands([add, list, show, verify, update, rotateDkim, remove]),
  Command.provide(senderRepository),
)
