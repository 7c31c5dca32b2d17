import { imports as importList } from "@outreach/backoffice/lists/imports"
import { showImport } from "@outreach/backoffice/operations/recipients"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { formatRows } from "../output/Output.ts"

export const imports = group("imports", "Files of recipients that were imported", [
  importList,
  command(showImport, { format: ({ data }) => formatRows(data, ["line", "reason"]) }),
])
