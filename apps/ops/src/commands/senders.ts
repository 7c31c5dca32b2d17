import { senders as senderList } from "@outreach/backoffice/lists/senders"
import {
  createSender,
  type describeSender,
  removeLinkDomain,
  removeSender,
  rotateDkimKey,
  showSender,
  updateSender,
  verifySender,
} from "@outreach/backoffice/operations/senders"
import { linkHostOf } from "@outreach/backoffice/senders/linkHostOf"
import { lookUpSender, SenderSetup } from "@outreach/backoffice/senders/SenderSetup"
import { formatDnsRecord } from "@outreach/domain/senders/dnsRecords"
import { describeRamp } from "@outreach/domain/senders/Ramp"
import { generateDkimKeyPair, readDkimKeyPair } from "@outreach/mail/dkimKeys"
import { Effect, FileSystem, Layer } from "effect"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { linkTarget } from "../linkTarget.ts"
import { formatFinding, formatRecord, formatRows, refusal } from "../output/Output.ts"

const MAX_BYTES = 65_536

/** Reads a private signing key: RSA, PKCS#8 or PKCS#1, PEM or DER in base64. */
const readKeyPair = Effect.fnUntraced(function* (file: string) {
  const { stat, readFileString } = yield* FileSystem.FileSystem
  // Without any part of the file.
  const unusable = (reason: string) => refusal("DkimKeyUnusable", `The key file ${file} ${reason}.`, { file, reason })
  const { size } = yield* Effect.mapError(stat(file), () => unusable("cannot be read"))
  if (size > MAX_BYTES) return yield* Effect.fail(unusable("contains no RSA key"))
  const text = yield* Effect.mapError(readFileString(file), () => unusable("cannot be read"))
  return (
    readDkimKeyPair(text) ??
    (yield* Effect.fail(unusable("contains no RSA key of at least 1024 bits: PKCS#8 or PKCS#1, PEM or DER in base64")))
  )
})

const senderSetup = Layer.effect(
  SenderSetup,
  Effect.gen(function* () {
    const target = yield* linkTarget
    const files = yield* FileSystem.FileSystem
    return {
      linkHost: linkHostOf(target.publicBaseUrl),
      lookUp: (sender, linkDomain, dnsServer) =>
        lookUpSender(dnsServer === undefined ? [] : [dnsServer], target, sender, linkDomain),
      keyPair: (file) =>
        file === undefined
          ? generateDkimKeyPair
          : Effect.provideService(readKeyPair(file), FileSystem.FileSystem, files),
    }
  }),
)

const format = ({ keys, dnsRecords, ...own }: Effect.Success<ReturnType<typeof describeSender>>) => [
  formatRecord({ ...own, ramp: describeRamp(own.ramp) }),
  formatRows(keys, ["selector", "state", "createdAt", "signsFrom", "signsUntil"]),
  `DNS records:\n${dnsRecords.map(formatDnsRecord).join("\n")}`,
]

const options = { format, services: senderSetup }

export const senders = group("senders", "The sender identities of e-mails, and the DKIM keys that sign them", [
  command(createSender, options),
  senderList,
  command(showSender, options),
  command(updateSender, options),
  command(verifySender, {
    format: ({ checks }) => checks.map((check) => formatFinding("", check)).join("\n"),
    services: senderSetup,
  }),
  command(rotateDkimKey, options),
  removeSender,
])

export const linkDomains = group("link-domains", "The domains of tracked links", [removeLinkDomain])
