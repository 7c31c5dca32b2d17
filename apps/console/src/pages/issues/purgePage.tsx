import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { wholeNumber } from "@outreach/domain/textSchema"
import { DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { Effect, Schema } from "effect"
import { formatCount } from "../../components/format.ts"
import { ActionForm, Field } from "../../components/forms.tsx"
import { LinkLine } from "../../components/lists.tsx"
import { required } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { groupTitle } from "./FailureCause.tsx"

class CountDiffers extends Schema.TaggedError<CountDiffers>()("CountDiffers", { count: Schema.Int }) {
  override get message(): string {
    return `Nothing was purged: there are ${formatCount(this.count)} dead letters by now. Look again, and type that count.`
  }
}

/** `/issues/:group/purge`: how many dead letters a purge would delete, before it does. */
export const purgePage = definePage({
  path: "/issues/:group/purge",
  role: "admin",
  read: Effect.fnUntraced(function* ({ group: id }) {
    const group = yield* (yield* FailureGroupReader).find(id)
    const { stored, open } = group
    return {
      title: "Purge an issue",
      commands: [
        `ops dead-letters purge --group ${id} --dry-run`,
        `ops dead-letters purge --group ${id} --confirm ${stored}`,
      ],
      body: (
        <>
          <p class="problem">
            {formatCount(stored)} dead letters would be deleted for good, of which {formatCount(open)} were never
            replayed: the partner will not get them.
          </p>
          <p>{groupTitle(group)}</p>
          <ActionForm action={purgeIssue} params={{ group: id }} label="Purge for good" isDangerous>
            <Field name="confirm" label={`Type ${stored} to confirm`} inputmode="numeric" required size={8} />
          </ActionForm>
          <LinkLine to={`/issues/${id}`}>Back to the issue</LinkLine>
        </>
      ),
    }
  }),
})

export const purgeIssue = defineAction({
  path: "/issues/:group/purge",
  role: "admin",
  command: "dead-letters purge",
  fields: { confirm: required(wholeNumber(0, 1_000_000_000, "the count")) },
  run: Effect.fnUntraced(function* ({ group, confirm }, { operator: { organizationId } }) {
    const deadLetters = yield* DeadLetterRepository
    const filter = { groupId: group, ...(organizationId !== null && { organizationId }) }
    const { before, count } = yield* deadLetters.countOld(filter, 0)
    if (count !== confirm) return yield* new CountDiffers({ count })
    const purged = yield* deadLetters.purgeAll(filter, before)
    return { to: "/issues", notice: `${formatCount(purged)} dead letters were purged.` }
  }),
})
