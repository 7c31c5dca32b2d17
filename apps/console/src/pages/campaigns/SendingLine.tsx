import type { Finding } from "@outreach/domain/operators/Finding"
import { Advice } from "../../components/Advice.tsx"
import { Prose } from "../../components/values.tsx"

/** Says why no e-mail of a campaign goes out, and what to do; nothing while they go out. */
export const SendingLine = ({ cause }: { readonly cause: Finding | null }) =>
  cause && (
    <p class={cause.status === "ok" ? undefined : "problem"}>
      No e-mail goes out.{" "}
      <bdi>
        <Prose>{cause.found}</Prose>
      </bdi>{" "}
      <Advice finding={cause} none="" />
    </p>
  )
