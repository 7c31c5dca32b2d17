import type { Finding } from "@outreach/domain/operators/Finding"
import { type DnsRecord, formatDnsRecord } from "@outreach/domain/senders/dnsRecords"
import { Advice, FindingBadge } from "../../components/Advice.tsx"
import { Live, Section, Table } from "../../components/layout.tsx"
import { Code, CopyLine, Prose, Time } from "../../components/values.tsx"
import type { LookUp } from "./SenderLookUps.ts"

const AGAIN_SECONDS = 60
/** During the query. */
const SOON_SECONDS = 2

/** A sender's DNS records, each as a line to publish with the result of its query. */
export const SenderRecords = (props: {
  readonly records: ReadonlyArray<DnsRecord>
  readonly lookUp: LookUp | undefined
}) => {
  const { records, lookUp } = props
  const findings = new Map(lookUp?.findings.map((finding) => [finding.record, finding]))
  const published = records.map((record) => ({ name: `${record.type} ${record.name}`, line: formatDnsRecord(record) }))
  const others = [...findings.keys()].filter((name) => published.every((record) => record.name !== name))
  return (
    <Live id="records" seconds={lookUp === undefined ? SOON_SECONDS : AGAIN_SECONDS}>
      <Section title="DNS records">
        <p>
          {lookUp === undefined ? (
            "Looking up the DNS records. Reload the page in a few seconds."
          ) : (
            <>
              Publish each line at your DNS provider. Last lookup: <Time at={lookUp.at} />.
            </>
          )}
        </p>
        <Table
          label="DNS records"
          rows={[...published, ...others.map((name) => ({ name, line: undefined }))]}
          columns={{
            Record: ({ name }) => <Code>{name}</Code>,
            "Line to publish": ({ line }) => (line === undefined ? "–" : <CopyLine>{line}</CopyLine>),
            "DNS result": ({ name }) => <DnsResult finding={findings.get(name)} isKnown={lookUp !== undefined} />,
          }}
        />
      </Section>
    </Live>
  )
}

const DnsResult = (props: { readonly finding: Finding | undefined; readonly isKnown: boolean }) => {
  const { finding, isKnown } = props
  if (finding === undefined) return <>{isKnown ? "Keep it published. Verify only checks new records." : "…"}</>
  return (
    <>
      <FindingBadge status={finding.status} ok="found" skipped="not looked up" /> <Prose>{finding.found}</Prose>
      {finding.advice !== null && (
        <>
          <br />
          <small>
            <Advice finding={finding} />
          </small>
        </>
      )}
    </>
  )
}
