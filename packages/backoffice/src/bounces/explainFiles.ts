import { createReadStream } from "node:fs"
import { DescribedError } from "@outreach/domain/DescribedError"
import { suppressionFor } from "@outreach/domain/mail/returned/Bounces"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { isHardBounce } from "@outreach/domain/suppressions/Suppression"
import { findLocalParts, MAX_RETURNED_BYTES, parseReturned, readExcerpt } from "@outreach/mail/returned/parseReturned"
import { type Returned, readReturned } from "@outreach/mail/returned/readReturned"
import { Array as Arr, Effect, FileSystem, Option, Path, Struct } from "effect"

class NoMessages extends DescribedError("NoMessages", "Name a file of a message, a folder that has some, or - .") {}

class TooManyFiles extends DescribedError(
  "TooManyFiles",
  ({ files }: { readonly files: number }) => `These are ${files} files; give at most ${MAX_FILES}.`,
) {}

class UnreadableFile extends DescribedError("UnusableFile", "{file} cannot be read.") {}

const MAX_FILES = 10_000

/** Explains the message of each file, of each file in a folder, and of standard input. Without return paths, seals aren't checked. */
export const explainFiles = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const files = (yield* Effect.forEach(paths, filesOf)).flat()
  if (files.length === 0) return yield* new NoMessages()
  if (files.length > MAX_FILES) return yield* new TooManyFiles({ files: files.length })
  const returnPaths = Option.getOrUndefined(yield* Effect.serviceOption(ReturnPaths))
  const messages = yield* Effect.forEach(files, (file) => explainFile(file, returnPaths))
  return { messages, summary: summarise(messages) }
})

const filesOf = Effect.fnUntraced(function* (path: string) {
  if (path === "-") return [path]
  const { stat, readDirectory } = yield* FileSystem.FileSystem
  const { join } = yield* Path.Path
  const unreadable = () => new UnreadableFile({ file: path })
  const { type } = yield* Effect.mapError(stat(path), unreadable)
  if (type !== "Directory") return [path]
  const inside = yield* Effect.mapError(readDirectory(path, { recursive: true }), unreadable)
  const files = inside.toSorted().map((name) => join(path, name))
  return yield* Effect.filter(files, (file) =>
    stat(file).pipe(
      Effect.map(({ type }) => type === "File"),
      Effect.orElseSucceed(() => false),
    ),
  )
})

/** Classifies a returned message, without its text and addresses. A field is null if it doesn't apply, or the message wasn't read. */
const explainFile = Effect.fnUntraced(function* (file: string, returnPaths: ReturnPaths["Service"] | undefined) {
  const raw = yield* Effect.tryPromise({
    try: () => readExcerpt(file === "-" ? process.stdin : createReadStream(file)),
    catch: () => new UnreadableFile({ file }),
  })
  if (raw === undefined)
    return nothingOf(file, "too_large", `The listener refuses more than ${MAX_RETURNED_BYTES} bytes.`)
  const message = yield* Effect.promise(() => parseReturned(raw))
  if (message === undefined) return nothingOf(file, "unreadable", "None: it is taken, and counted as ignored.")
  const returned = readReturned(message)
  const headers = message.headers.map(({ value }) => value).join("\n")
  const localParts = [...findLocalParts(headers), ...returned.localParts]
  const [recipientId] = localParts.flatMap((localPart) => returnPaths?.readLocalPart(localPart) ?? [])
  // Whether the message contains a return path of this deployment. It isn't checked without `SECRETS_KEY`.
  const unsealed = localParts.length === 0 ? "none" : returnPaths === undefined ? "not checked" : "not valid"
  const { kind, rule, sureness } = returned
  return {
    ...{ file, kind, verdict: verdictOf(returned), status: kind === "bounce" ? returned.status : null, sureness, rule },
    seal: recipientId === undefined ? unsealed : "valid",
    recipientId: recipientId ?? null,
    effect: unsealed === "not valid" && recipientId === undefined ? NOT_OURS : describeEffect(returned),
  }
})

const nothingOf = (file: string, kind: "unreadable" | "too_large", effect: string) => ({
  ...{ file, kind, verdict: null, status: null, sureness: null, rule: null, seal: "none", recipientId: null, effect },
})

/** Counts the messages of each kind, verdict and sureness, most first. */
const summarise = (messages: ReadonlyArray<Effect.Success<ReturnType<typeof explainFile>>>) => {
  const groups = Object.values(Arr.groupBy(messages, ({ kind, verdict, sureness }) => `${kind} ${verdict} ${sureness}`))
  return groups
    .map((group) => ({ ...Struct.pick(group[0], ["kind", "verdict", "sureness"]), messages: group.length }))
    .toSorted((one, other) => other.messages - one.messages)
}

/** Describes the effect of a returned message at one of the service's return paths. */
const describeEffect = (returned: Returned): string => {
  switch (returned.kind) {
    case "bounce":
      if (returned.verdict._tag === "Refused") {
        return "Counts the message as refused later, and lets the campaign leave the domain alone for an hour. It marks no address."
      }
      return returned.verdict._tag === "Bounced" && isHardBounce(returned.verdict.reason)
        ? "Marks the recipient as bounced, suppresses the address in the organization, and publishes outreach.email_bounced."
        : "Counts the message as refused later. It marks no address, and publishes nothing."
    case "complaint": {
      const reason = suppressionFor(returned.feedbackType)
      if (reason === undefined) return "None: feedback of this type is not about a recipient who minds."
      return `${reason === "complained" ? "Counts a complaint, and suppresses" : "Suppresses"} the address in the organization.`
    }
    case "delay":
      return "None: the server tries on, and reports again if it gives up."
    case "delivered":
      return "None: the message was delivered, or passed on."
    case "message":
      return "None: it is counted as ignored."
  }
}

/** The effect of a message without a return path of the deployment. */
const NOT_OURS = "None: no return path in it is of this deployment. The listener refuses mail to others."

/** Returns the details of a bounce or a complaint; null for other messages. */
const verdictOf = (returned: Returned): string | null => {
  if (returned.kind === "complaint") return returned.feedbackType
  if (returned.kind !== "bounce") return null
  return returned.verdict._tag === "Bounced" ? returned.verdict.reason : returned.verdict._tag.toLowerCase()
}
