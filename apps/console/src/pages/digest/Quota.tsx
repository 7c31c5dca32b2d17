import type { ProgramQuotas } from "@outreach/backoffice/digest/DigestReader"
import { WHEN_REACHED } from "@outreach/domain/programs/Program"
import { formatCount } from "../../components/format.ts"
import { Facts } from "../../components/layout.tsx"
import { Time } from "../../components/values.tsx"

/** A program's progress towards its targets. */
export const Quotas = ({ quotas }: { readonly quotas: ProgramQuotas }) => (
  <div class="halves">
    <Quota title="Learners" stage="learner_qualified" quotas={quotas} />
    <Quota title="Completers" stage="completer_qualified" quotas={quotas} />
  </div>
)

const Quota = (props: {
  readonly title: string
  readonly stage: keyof ProgramQuotas
  readonly quotas: ProgramQuotas
}) => {
  const { title, stage } = props
  const { target, count, remaining, reached_at: reachedAt } = props.quotas[stage]
  return (
    <section aria-labelledby={`quota-${stage}`}>
      <h3 id={`quota-${stage}`}>{title}</h3>
      <Facts
        facts={{
          Counted: formatCount(count),
          Target: target === null ? "none" : formatCount(target),
          Remaining: remaining !== null && formatCount(remaining),
          "When reached": target !== null && WHEN_REACHED[stage],
          Reached: reachedAt && <Time at={reachedAt} />,
        }}
      />
    </section>
  )
}
