import { ReplyReader } from "@outreach/backoffice/recipients/ReplyReader"
import { RecipientId } from "@outreach/domain/Identifier"
import { ReplyRepository } from "@outreach/domain/mail/ReplyRepository"
import { ReplyRepositoryPg } from "@outreach/postgres/mail/ReplyRepositoryPg"
import { Effect, Layer } from "effect"
import { changing, group, reading, revealing } from "../Declaration.ts"
import { MAX_ROWS, organizationId } from "../inputs/filters.ts"
import { argument, optional, switchFlag } from "../inputs/Input.ts"
import { formatCell, formatRecord, refuse } from "../output/Output.ts"

const list = reading({
  about: "List the replies of people that wait for an operator, oldest first, without what they wrote",
  examples: ["ops replies list", "ops replies list --organization org_… --all"],
  input: {
    organizationId: optional(organizationId),
    all: switchFlag("List those that are done as well, newest first"),
  },
  key: ["recipientId", "receivedAt"],
  *run({ organizationId, all }) {
    const { listAll, listWaiting } = yield* ReplyReader
    const replies = yield* (all ? listAll : listWaiting)(organizationId, MAX_ROWS)
    return replies.map(({ subject, text, ...reply }) => ({ ...reply, characters: subject.length + text.length }))
  },
  columns: ["recipientId", "organizationId", "receivedAt", "characters", "doneAt"],
})

const recipientId = argument(RecipientId, "The recipient's id, rcp_…, as the list shows it")

const findReplies = Effect.fnUntraced(function* (id: RecipientId) {
  const [first, ...others] = yield* ReplyReader.use(({ find }) => find([id]))
  if (first !== undefined) return [first, ...others] as const
  return yield* refuse("RepliesNotFound", `No reply of ${id} is kept.`, { recipientId: id })
})

const show = revealing({
  about: "Show the replies of a recipient, oldest first",
  examples: ["ops replies show rcp_… --reveal"],
  input: { recipientId, reveal: switchFlag("Show what the person wrote, which may name them and others") },
  *run({ recipientId, reveal }) {
    const replies = yield* findReplies(recipientId)
    const [{ organizationId, campaignId }] = replies
    const shown = replies.map(({ number, receivedAt, doneAt, subject, text }) => ({
      ...{ number, receivedAt, doneAt },
      ...(reveal ? { subject } : { characters: subject.length + text.length }),
      text: reveal ? text : undefined,
    }))
    return { recipientId, organizationId, campaignId, replies: shown }
  },
  format: ({ replies, ...about }) => [
    formatRecord(about),
    ...replies.flatMap(({ text, ...reply }) => [
      formatRecord(reply),
      ...(text === undefined ? [] : [text.split("\n").map(formatCell).join("\n")]),
    ]),
  ],
})

const markDone = changing({
  about: "Mark the replies of a recipient as done: answered, passed on, or nothing to do",
  examples: ["ops replies mark-done rcp_…"],
  input: { recipientId },
  *run({ recipientId }) {
    const [{ organizationId }] = yield* findReplies(recipientId)
    return { recipientId, done: yield* ReplyRepository.use(({ markDone }) => markDone(organizationId, recipientId)) }
  },
})

export const replies = group({
  about: "What people wrote to the return path of their message instead of to its sender",
  commands: { list, show, "mark-done": markDone },
  services: Layer.merge(ReplyReader.layer, ReplyRepositoryPg),
})
