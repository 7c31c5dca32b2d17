import type { Finding } from "@outreach/domain/operators/Finding"
import { Advice } from "../../components/Advice.tsx"
import { Prose } from "../../components/values.tsx"

/** Explains why a campaign sends no e-mails, with the remedy. Empty while it sends. */
export const SendingLine = ({ cause }: { readonly cause: Finding | null }) =>
  cause && (
    <p class={cause.status === "ok" ? undefined : "problem"}>
      No e-mails are being sent.{" "}
      <bdi>
        <Prose>{cause.found}</Prose>
      </bdi>{" "}
      <Advice finding={cause} none="" />
    </p>
  )
