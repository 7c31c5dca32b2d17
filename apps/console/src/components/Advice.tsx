import { formatCommand } from "@outreach/backoffice/formatCommand"
import type { Tone } from "@outreach/backoffice/lists/List"
import type { Finding } from "@outreach/domain/operators/Finding"
import { useView } from "../view/View.ts"
import { Code, Prose, StatusBadge } from "./values.tsx"

/** Pages with the effect of a command, with the label of their link, by the command's words or its subject. */
const PAGES: Readonly<Record<string, readonly [label: string, addressOf: (id: string) => string]>> = {
  "recipients import": ["Import recipients", (id) => `/campaigns/${id}/imports/new`],
  senders: ["Open the sender", (id) => `/senders/${id}`],
  programs: ["Open the program", (id) => `/programs/${id}`],
  "endpoints list": ["Open the endpoints", (id) => `/endpoints?organization=${id}`],
  "secrets rotate": ["Open the organization", (id) => `/partners/${id}`],
}

/** The advice of a finding, with a link to its page, or with the command if there is no page. */
export const Advice = (props: { readonly finding: Pick<Finding, "advice" | "command">; readonly none?: string }) => {
  const { finding, none = "–" } = props
  const { operator, page } = useView()
  if (finding.advice === null) return <>{none}</>
  const { command = [] } = finding
  const [subject = ""] = command
  const [label, addressOf] = PAGES[command.slice(0, 2).join(" ")] ?? PAGES[subject] ?? []
  const to = addressOf?.(command.findLast((word) => /^[a-z]{3}_[0-9a-f]{32}$/.test(word)) ?? "")
  return (
    <>
      <Prose>{finding.advice}</Prose>{" "}
      {to !== undefined
        ? to !== page && <a href={to}>{label}</a>
        : command.length > 0 && operator.role !== "partner" && <Code>{formatCommand(["ops", ...command])}</Code>}
    </>
  )
}

export const FINDING_TONES: Readonly<Record<Finding["status"], Tone>> = {
  failed: "bad",
  warning: "warning",
  ok: "good",
  skipped: "neutral",
}

export const FindingBadge = (props: {
  readonly status: Finding["status"]
  readonly ok?: string
  readonly skipped?: string
}) => {
  const { status, ok = "ok", skipped = "skipped" } = props
  const words = { failed: "wrong", warning: "warning", ok, skipped }
  return <StatusBadge tone={FINDING_TONES[status]}>{words[status]}</StatusBadge>
}
