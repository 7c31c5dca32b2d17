import { createPrivateFile } from "@outreach/backoffice/createPrivateFile"
import { eraseClinician, exportClinician, formatCounts } from "@outreach/backoffice/operations/clinicians"
import { Console, Effect } from "effect"
import { command, withRun } from "../command.ts"
import { group } from "../group.ts"
import { formatRecord, printToStderr } from "../output/Output.ts"

const exportData = withRun(
  exportClinician,
  Effect.fnUntraced(function* ({ out, ...input }) {
    // Created before the data is read, so that a wrong path fails early.
    const file = out === undefined ? undefined : yield* createPrivateFile(out)
    const data = yield* exportClinician.run(input, "")
    const { organization_id: organizationId, exported_at, clinician: named, ...tables } = data
    const rows = Object.values(tables).reduce((count, { length }) => count + length, 0)
    const json = JSON.stringify(data, null, 2)
    if (file === undefined) {
      yield* Console.log(json)
      return yield* rows === 0 ? printToStderr("Nothing is held on the clinician.") : Effect.void
    }
    yield* file.append(`${json}\n`)
    yield* file.keep
    return { organizationId, file: out, rows }
  }, Effect.scoped),
)

export const clinicians = group("clinicians", "What is held on a clinician", [
  exportData,
  command(eraseClinician, {
    format: (result) => formatRecord({ ...result, counts: formatCounts(result.counts) }),
  }),
])
