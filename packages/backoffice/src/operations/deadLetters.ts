import { purgeDeadLetters, replayDeadLetters as replayNow } from "@outreach/domain/deliveries/DeadLetters"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { describeCause } from "@outreach/domain/deliveries/describeCause"
import { DEFAULT_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/ReplayJobQueue"
import { createDeadLetterReplay } from "@outreach/domain/deliveries/Replays"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { DeliveryId, EndpointId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import { Instant, PastInstant } from "@outreach/domain/Instant"
import { wholeNumber } from "@outreach/domain/textSchema"
import { Effect, Struct } from "effect"
import { type DeadLetterCount, DeadLetterReader, isGrouped } from "../deliveries/DeadLetterReader.ts"
import { DeliveryReader } from "../deliveries/DeliveryReader.ts"
import { FailureGroupReader } from "../deliveries/FailureGroupReader.ts"
import { formatCount, formatCounted, formatDuration } from "../format.ts"
import { choice, field, required, type ValuesOf } from "./Field.ts"
import { operation } from "./Operation.ts"
import { rate } from "./replays.ts"

/** The fields that select dead letters, except by time. All given ones must match. */
export const deadLetterSelector = {
  endpointId: field(EndpointId, "Endpoint", { hint: "Only dead letters of this endpoint" }),
  type: choice("Type", outboundEventTypes, { hint: "Only events of this type" }),
  reason: choice("Reason", DEAD_LETTER_REASONS, {
    hint: "Rejected by the partner, out of attempts, or several workers crashed",
  }),
  groupId: field(FailureGroupId, "Issue", { hint: "Only dead letters of this issue" }),
  status: field(wholeNumber(100, 599, "an HTTP status"), "Status", {
    hint: "The HTTP status of the last attempt",
    example: "503",
  }),
  organizationId: field(OrganizationId, "Organization", { hint: "Only dead letters of this organization" }),
}

/** The fields that select dead letters. All given ones must match. */
export const deadLetterFields = {
  ...deadLetterSelector,
  from: field(PastInstant, "Failed at or after", { kind: "instant", example: "2026-11-01T09:00:00Z" }),
  to: field(Instant, "Failed before", { kind: "instant" }),
}

export const filterOf = <A extends ValuesOf<typeof deadLetterSelector>>({ type, ...filter }: A) => ({
  ...filter,
  ...(type !== undefined && { eventType: type }),
})

/** Maximum number of dead letters that a plan counts by type or time. */
const MAX_COUNTED = 5000

export const replayDeadLetters = operation("dead-letters replay", {
  role: "operator",
  forPartners: true,
  about:
    "Deliver dead letters again, from attempt 1; their history remains. With filters or --all, as a job of the workers at a steady rate",
  label: "Replay all",
  input: { ...deadLetterFields, rate },
  plan: Effect.fnUntraced(function* ({ rate: _, ...fields }) {
    const { count } = yield* DeadLetterReader
    const filter = filterOf(fields)
    const counts = yield* count(filter, MAX_COUNTED)
    const total = sumOf(counts)
    const looked = fields.type === undefined ? total : sumOf(yield* count(Struct.omit(fields, ["type"]), MAX_COUNTED))
    const hasMore = !isGrouped(filter) && looked >= MAX_COUNTED
    const atLeast = hasMore ? "at least " : ""
    const endpoints = yield* (yield* DeliveryReader).endpoints(fields.organizationId)
    const addressOf = (id: EndpointId) => endpoints.find((each) => each.id === id)?.url ?? id
    const { groupId, endpointId, organizationId } = fields
    const [id, name] =
      groupId !== undefined
        ? [groupId, "An issue"]
        : endpointId !== undefined
          ? [endpointId, addressOf(endpointId)]
          : organizationId !== undefined
            ? [organizationId, "An organization"]
            : ["", "All organizations"]
    return {
      title: "Replay dead letters",
      many: `${atLeast}${formatCounted(total, "dead letter")}, each from attempt 1. Their history remains.`,
      affects: { id, name },
      when: `Now, after live events and retries; at ${DEFAULT_REPLAYS_PER_SECOND} per second it takes ${atLeast}${formatDuration(total / DEFAULT_REPLAYS_PER_SECOND)}.`,
      facts: {
        ...(fields.from && { "Failed at or after": { at: fields.from } }),
        ...(fields.to && { "Failed before": { at: fields.to } }),
        ...Object.fromEntries(
          counts.map(({ endpointId, reason, count }) => [`${addressOf(endpointId)}, ${reason}`, formatCount(count)]),
        ),
      },
      obstacle: total === 0 && !hasMore ? "No matching dead letter is left to replay." : undefined,
    }
  }),
  run: ({ rate, ...fields }) => createDeadLetterReplay(filterOf(fields), rate),
  done: ({ total, state, rate }) =>
    state === "running"
      ? `${formatCounted(total, "dead letter")} will be replayed at ${formatCount(rate)} per second, in ${formatDuration(total / rate)}. The job is listed below the issues.`
      : "No dead letters were left to replay.",
  examples: [
    "ops dead-letters replay dlv_…",
    "ops dead-letters replay --endpoint whe_… --reason exhausted --dry-run",
    "ops dead-letters replay --endpoint whe_… --reason exhausted --rate 20",
    "ops dead-letters replay --group fgr_… --rate 20",
  ],
})

const sumOf = (counts: ReadonlyArray<DeadLetterCount>): number => counts.reduce((sum, { count }) => sum + count, 0)

/** The replay of one dead letter. */
export const replayDeadLetter = operation("dead-letters replay", {
  role: "operator",
  forPartners: true,
  about: replayDeadLetters.about,
  label: "Replay",
  input: { deliveryId: required(field(DeliveryId, "Delivery")) },
  run: ({ deliveryId }) => Effect.as(replayNow(new Set([deliveryId])), { id: deliveryId }),
  done: () => "Replayed as a new delivery, starting at attempt 1.",
})

/** The removal of an issue's dead letters. */
export const removeDeadLetters = operation("dead-letters remove", {
  role: "admin",
  about: "Delete old dead letters, replayed or not",
  label: "Remove permanently",
  input: { groupId: required(deadLetterSelector.groupId) },
  plan: Effect.fnUntraced(function* ({ groupId }) {
    const group = yield* (yield* FailureGroupReader).find(groupId)
    const { stored, open, openedAt, lastAt } = group
    return {
      title: "Remove the dead letters of an issue",
      many: `${formatCounted(stored, "dead letter")} (${formatCount(open)} never replayed)`,
      affects: { id: groupId, name: describeCause(group) },
      when: "Immediately.",
      facts: { From: { at: openedAt }, To: { at: lastAt } },
      caution: {
        word: String(stored),
        because: "This can't be undone. The partner doesn't receive those that weren't replayed.",
      },
    }
  }),
  run: ({ groupId }) =>
    Effect.gen(function* () {
      const { before } = yield* (yield* DeadLetterReader).countOld({ groupId }, 0)
      return { removed: yield* purgeDeadLetters({ groupId }, before) }
    }),
  done: ({ removed }) => `${formatCounted(removed, "dead letter")} removed.`,
})
