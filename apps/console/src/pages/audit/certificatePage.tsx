import { certificateOf } from "@outreach/backoffice/erasure/certificateOf"
import { readCertificate } from "@outreach/backoffice/operations/clinicians"
import type { Cell } from "@outreach/backoffice/operations/Operation"
import { Effect, String as Str } from "effect"
import { Facts, Page, Table } from "../../components/layout.tsx"
import { Prose } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"

/** The certificate of an erasure, to print. */
export const certificatePage = definePage("/erasures/:erasure", {
  run: Effect.fnUntraced(function* ({ erasure }) {
    const { certificate, organization } = yield* readCertificate(erasure)
    const { facts, tables } = certificateOf(certificate, organization)
    const columnOf = (name: string, i: number) => {
      const show = (cells: ReadonlyArray<Cell>) => <Prose>{String(cells[i])}</Prose>
      return [Str.capitalize(name), name === "rows" ? { number: show } : show] as const
    }
    return (
      <Page title="Certificate of an erasure" commands={[["erasures show", erasure]]}>
        <Facts facts={facts} />
        {tables.map(({ title = "", head, rows }) => (
          <Table key={title} title={title} rows={rows} columns={Object.fromEntries(head.map(columnOf))} />
        ))}
      </Page>
    )
  }),
})
