using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

public static class WebhookSignature
{
    /// <summary>Reports whether one of the secrets signed the body, within tolerance seconds of now.</summary>
    public static bool Verify(string header, byte[] rawBody, string[] secrets, long now, long tolerance = 300)
    {
        // 1. Take the header apart: one t, and one v1 or more. Items of other names belong to later schemes.
        if (header == null || header.Length > 4096) return false;
        var items = Regex.Split(header, ", *");
        if (items.Length > 32) return false;
        var times = new List<string>();
        var signatures = new List<string>();
        foreach (var item in items)
        {
            if (!Regex.IsMatch(item, @"\A[^= ]+=[^ ]*\z")) return false;
            var value = item.Substring(item.IndexOf('=') + 1);
            if (item.StartsWith("t=", StringComparison.Ordinal)) times.Add(value);
            if (item.StartsWith("v1=", StringComparison.Ordinal)) signatures.Add(value);
        }
        if (times.Count != 1 || !Regex.IsMatch(times[0], @"\A(0|[1-9][0-9]{0,14})\z")) return false;
        if (!signatures.All(one => Regex.IsMatch(one, @"\A[0-9a-f]{64}\z"))) return false;

        // 2. Refuse what is older than the tolerance, or further ahead.
        if (Math.Abs(now - long.Parse(times[0])) > tolerance) return false;

        // 3. Sign the same bytes with each secret: the time, a dot, the raw body.
        var signed = Encoding.UTF8.GetBytes(times[0] + ".").Concat(rawBody).ToArray();
        foreach (var secret in secrets.Where(secret => secret != ""))
        {
            var digest = new HMACSHA256(Encoding.UTF8.GetBytes(secret)).ComputeHash(signed);
            var hex = BitConverter.ToString(digest).Replace("-", "").ToLowerInvariant();
            var expected = Encoding.UTF8.GetBytes(hex);

            // 4. Compare in constant time; one match is enough.
            foreach (var one in signatures)
            {
                if (CryptographicOperations.FixedTimeEquals(expected, Encoding.UTF8.GetBytes(one))) return true;
            }
        }
        return false;
    }
}
