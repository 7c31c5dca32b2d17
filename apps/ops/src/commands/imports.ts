import { imports as importList } from "@outreach/backoffice/lists/imports"
import { ImportLog } from "@outreach/backoffice/recipients/ImportLog"
import { ImportId } from "@outreach/domain/Identifier"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { listCommand } from "../listCommand.ts"
import { idArgument } from "../operationCommand.ts"
import { formatRows } from "../output/Output.ts"

const show = reading({
  about: "List the first thousand rejected lines of an import by number and reason",
  examples: ["ops imports show imp_…"],
  input: { importId: idArgument("importId", ImportId) },
  *run({ importId }) {
    return { data: (yield* (yield* ImportLog).find(importId)).rejects }
  },
  format: ({ data }) => formatRows(data, ["line", "reason"]),
})

export const imports = group({
  about: "Files of recipients that were imported",
  commands: { list: listCommand(importList), show },
  services: Layer.merge(CampaignRepositoryPg, ImportLog.layer),
})
