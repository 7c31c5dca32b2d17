import { DomainName } from "@outreach/domain/DomainName"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { changing, group } from "../Declaration.ts"
import { argument } from "../inputs/Input.ts"
import { confirm, yes } from "../output/Output.ts"
import { senderRepository } from "../secretCipher.ts"

const remove = changing({
  about:
    "Remove a link domain that no sender uses: links that were sent with it stop working. Requires confirmation or --yes",
  examples: ["ops link-domains remove click.acme.example"],
  input: { domain: argument(DomainName, "The domain, such as click.acme.example"), yes },
  *run({ domain, yes }) {
    yield* confirm(`remove the link domain ${domain}, with which links in sent e-mails end`, { yes })
    return { ...(yield* LinkDomainRepository.use(({ remove }) => remove(domain))), removed: true }
  },
})

export const linkDomains = group({
  about: "The domains of tracked links",
  commands: { remove },
  services: senderRepository,
})
