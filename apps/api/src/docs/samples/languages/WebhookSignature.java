import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigInteger;
import java.security.*;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class WebhookSignature {
  // Items of later schemes are named neither t nor v1.
  private static final String ITEM = "(t=(0|[1-9][0-9]{0,14})|v1=[0-9a-f]{64}|(?!t=|v1=)[^=, ]+=[^, ]*)";

  /** Reports whether a raw body was signed with one of the secrets, at most tolerance seconds from now. */
  public static boolean verify(String header, byte[] rawBody, List<String> secrets, long now, long tolerance) throws GeneralSecurityException {
    if (header == null || header.length() > 4096 || !header.matches(ITEM + "(, *" + ITEM + "){0,31}")) return false;
    List<String> items = Arrays.asList(header.split(", *"));
    String[] t = items.stream().filter(item -> item.startsWith("t=")).toArray(String[]::new);
    if (t.length != 1 || Math.abs(now - Long.parseLong(t[0].substring(2))) > tolerance) return false;
    Mac mac = Mac.getInstance("HmacSHA256");
    boolean matched = false;
    for (String secret : secrets) {
      if (secret.isEmpty()) continue;
      mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
      mac.update((t[0].substring(2) + ".").getBytes(UTF_8));
      byte[] expected = String.format("v1=%064x", new BigInteger(1, mac.doFinal(rawBody))).getBytes(UTF_8);
      for (String item : items) matched |= MessageDigest.isEqual(expected, item.getBytes(UTF_8));
    }
    return matched;
  }
}
