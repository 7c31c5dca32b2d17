import { type DraftStep, draftSteps, type PreflightCheck } from "@outreach/domain/campaigns/preflight"
import type { CampaignId } from "@outreach/domain/Identifier"
import type { ComponentChildren } from "preact"
import { FINDING_TONES, usePageOf } from "../../components/Findings.tsx"
import { Section } from "../../components/layout.tsx"
import { Prose, StatusBadge } from "../../components/values.tsx"

const LABELS: Readonly<Record<DraftStep["step"], string>> = {
  recipients: "Recipients",
  email: "E-mail and window",
  sender: "Sender",
  test: "Test message",
  schedule: "Schedule",
}

/** Steps with an action on the page itself, instead of a link. */
type Actions = Readonly<Partial<Record<DraftStep["step"], (isPrimary: boolean) => ComponentChildren>>>

/** The steps from a draft to a scheduled campaign. The action of the next one is the main action of the page. */
export const DraftSteps = (props: {
  readonly campaignId: CampaignId
  readonly checks: ReadonlyArray<PreflightCheck>
  readonly actions: Actions
}) => (
  <Section title="Next steps">
    <ol class="steps">
      {draftSteps(props.campaignId, props.checks).map((each) => (
        <li key={each.step} id={each.step} aria-current={each.isNext ? "step" : undefined}>
          <StatusBadge tone={each.isDone || each.status === "failed" ? FINDING_TONES[each.status] : "neutral"}>
            {wordOf(each)}
          </StatusBadge>
          <span class="text">
            <b>{LABELS[each.step]}</b> <Prose>{each.found}</Prose>
          </span>
          <StepAction {...each} actions={props.actions} />
        </li>
      ))}
    </ol>
  </Section>
)

const wordOf = ({ status, isDone, isNext }: DraftStep): string =>
  isNext ? "next" : !isDone ? "to do" : status === "warning" ? "check" : "done"

const StepAction = ({ step, status, command, isNext, actions }: DraftStep & { readonly actions: Actions }) => {
  const page = usePageOf(command)
  const action = actions[step]
  return (
    <>
      {page !== undefined && (action === undefined || status === "failed") && (
        <a class={isNext ? "button primary" : "button"} href={page.to}>
          {page.label}
        </a>
      )}
      {action?.(isNext && status !== "failed")}
    </>
  )
}
