import type { RecipientSending } from "@outreach/backoffice/campaigns/SendingReader"
import { explainUnsentRecipient, SUPPRESSED_BECAUSE } from "@outreach/domain/campaigns/explainUnsentRecipient"
import type { Suppression } from "@outreach/domain/suppressions/Suppression"
import { IdLink, Prose } from "../../components/values.tsx"
import { useView } from "../../view/View.ts"

/** States whether a clinician gets e-mails, by suppressions and the newest campaigns. */
export const PersonStatus = (props: {
  readonly suppressions: ReadonlyArray<Suppression>
  readonly sendings: ReadonlyArray<RecipientSending>
  /** Programs by id. */
  readonly names: ReadonlyMap<string, string>
}) => {
  const { now } = useView()
  const reasons = [...new Set(props.suppressions.map(({ reason }) => reason))]
  return (
    <>
      {reasons.map((reason) => {
        const [first] = props.suppressions.filter((each) => each.reason === reason)
        const programId = first?.programId ?? null
        return (
          <p key={reason} class="problem">
            {programId === null ? (
              "No campaign of the organization"
            ) : (
              <>
                No campaign of <IdLink id={programId}>{props.names.get(programId) ?? programId}</IdLink>
              </>
            )}{" "}
            sends e-mails to the clinician: {SUPPRESSED_BECAUSE[reason]}.
          </p>
        )
      })}
      {props.sendings.map((sending) => {
        const { status, found } = explainUnsentRecipient(sending, sending.campaign, now)
        return (
          <p key={sending.recipientId} class={status === "ok" ? undefined : "problem"}>
            <IdLink id={sending.campaignId}>{sending.campaign.name}</IdLink>:{" "}
            <bdi>
              <Prose>{found}</Prose>
            </bdi>
          </p>
        )
      })}
    </>
  )
}
