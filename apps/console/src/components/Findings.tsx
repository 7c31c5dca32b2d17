import { describeAlert } from "@outreach/backoffice/format"
import { formatCommand } from "@outreach/backoffice/formatCommand"
import { scheduleCampaign, updateCampaign } from "@outreach/backoffice/operations/campaigns"
import { type Tone, URGENCY } from "@outreach/backoffice/operations/List"
import { importRecipients } from "@outreach/backoffice/operations/recipients"
import { isIdentifier } from "@outreach/domain/Identifier"
import type { ActiveAlert } from "@outreach/domain/operators/alerts"
import type { Finding } from "@outreach/domain/operators/Finding"
import { type Access, isPartner } from "@outreach/domain/operators/Operator"
import { fromUnixMillis, type Timestamp } from "@outreach/domain/Timestamp"
import { Array as Arr, Order } from "effect"
import type { ComponentChildren } from "preact"
import { useMay, useView } from "../view/View.ts"
import { type Columns, Table } from "./layout.tsx"
import { Code, Prose, type Value } from "./values.tsx"

/** A finding of a check, or an alert. */
export interface CheckResult extends Finding {
  readonly check: Value
  /** Default: the status. */
  readonly word?: string
  /** The page with the details. */
  readonly page?: string | undefined
  readonly since?: Timestamp | null
}

/** Returns an active alert as a finding at `now` (Unix milliseconds). */
export const toFinding = (alert: ActiveAlert, now: number) => ({
  ...alert,
  status: alert.severity === "critical" ? ("failed" as const) : ("warning" as const),
  found: describeAlert(alert),
  since: alert.age === null ? null : fromUnixMillis(now - alert.age * 1000),
})

/** Problems with their remedies, the most urgent first, and collapsed the passed checks. */
export const Findings = (props: {
  readonly of: ReadonlyArray<CheckResult>
  readonly empty?: string
  /** More content below the passed checks. */
  readonly children?: ComponentChildren
}) => {
  const isProblem = ({ status }: Finding) => status === "failed" || status === "warning"
  const columns: Columns<CheckResult> = {
    Check: ({ check }) => check,
    Status: ({ status, word = status }) => ({ tone: FINDING_TONES[status], word }),
    Found: ({ found, page }) => (page === undefined ? <Prose>{found}</Prose> : { to: page, name: found }),
  }
  return (
    <>
      <Table
        label="Problems"
        rows={Arr.sortWith(props.of.filter(isProblem), ({ status }) => URGENCY[FINDING_TONES[status]], Order.Number)}
        columns={{
          ...columns,
          Since: props.of.some(({ since }) => since) && (({ since }: CheckResult) => since && { at: since }),
          Remedy: (each: CheckResult) => <Advice finding={each} />,
        }}
        empty={props.empty}
      />
      <details>
        <summary>Passed checks</summary>
        <Table
          label="Passed checks"
          rows={props.of.filter((each) => !isProblem(each))}
          columns={columns}
          empty="None."
        />
        {props.children}
      </details>
    </>
  )
}

/** Pages with the effect of a command, with the label of their link and who may use them, by the command's words or its subject. */
const PAGES: Readonly<Record<string, readonly [label: string, addressOf: (id: string) => string, access?: Access]>> = {
  "recipients import": ["Import recipients", (id) => `/campaigns/${id}/imports/new`, importRecipients],
  "campaigns update": ["Edit the campaign", (id) => `/campaigns/${id}/edit`, updateCampaign],
  "campaigns test": ["Send a test", (id) => `/campaigns/${id}#test`],
  "campaigns schedule": ["Schedule", (id) => `/campaigns/${id}/schedule`, scheduleCampaign],
  "campaigns duplicate": ["Open the campaign", (id) => `/campaigns/${id}`],
  "suppressions list": ["Open the suppressions", (id) => `/suppressions?program=${id}`],
  "senders list": ["Open the senders", () => "/senders"],
  "senders create": ["Open the senders", (id) => `/senders?organization=${id}`],
  senders: ["Open the sender", (id) => `/senders/${id}`],
  programs: ["Open the program", (id) => `/programs/${id}`],
  "endpoints list": ["Open the endpoints", (id) => `/endpoints?organization=${id}`],
  "endpoints create": ["Open the endpoints", (id) => `/endpoints?organization=${id}`],
  doctor: ["Open the checks of the deployment", () => "/system"],
  "secrets rotate": ["Open the organization", (id) => `/partners/${id}`],
  "organizations update": ["Add contacts", (id) => `/partners/${id}#contacts`],
}

/** Returns the page with the effect of a command, if there is one for the operator. */
export const usePageOf = (
  command: ReadonlyArray<string>,
): { readonly label: string; readonly to: string } | undefined => {
  const [subject = ""] = command
  const [label = "", addressOf, access = { role: "viewer", forPartners: true }] =
    PAGES[command.slice(0, 2).join(" ")] ?? PAGES[subject] ?? []
  const path = addressOf?.(command.findLast(isIdentifier) ?? "") ?? ""
  const isOpen = useMay({ ...access, path })
  return path !== "" && isOpen ? { label, to: path } : undefined
}

/** The advice of a finding, with a link to its page, or with the command if there is no page. */
export const Advice = (props: { readonly finding: Pick<Finding, "advice" | "command">; readonly none?: string }) => {
  const { finding, none = "–" } = props
  const { operator, page } = useView()
  const { command = [] } = finding
  const found = usePageOf(command)
  if (finding.advice === null) return <>{none}</>
  return (
    <>
      <Prose>{finding.advice}</Prose>{" "}
      {found !== undefined
        ? found.to !== page && <a href={found.to}>{found.label}</a>
        : command.length > 0 && !isPartner(operator) && <Code>{formatCommand(["ops", ...command])}</Code>}
    </>
  )
}

export const FINDING_TONES: Readonly<Record<Finding["status"], Tone>> = {
  failed: "bad",
  warning: "warning",
  ok: "good",
  skipped: "neutral",
}
