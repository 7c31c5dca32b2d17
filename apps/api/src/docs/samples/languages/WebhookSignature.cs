using System;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

public static class WebhookSignature
{
    // Items of later schemes are named neither t nor v1.
    const string Item = "(t=(0|[1-9][0-9]{0,14})|v1=[0-9a-f]{64}|(?!t=|v1=)[^=, ]+=[^, ]*)";

    /// <summary>Reports whether a raw body was signed with one of the secrets, at most tolerance seconds from now.</summary>
    public static bool Verify(string header, byte[] rawBody, string[] secrets, long now, long tolerance = 300)
    {
        if (header == null || header.Length > 4096 || !Regex.IsMatch(header, @"\A" + Item + "(, *" + Item + @"){0,31}\z")) return false;
        var items = Regex.Split(header, ", *");
        var t = items.Where(item => item.StartsWith("t=", StringComparison.Ordinal)).Select(item => item.Substring(2)).ToArray();
        if (t.Length != 1 || Math.Abs(now - long.Parse(t[0])) > tolerance) return false;
        var signed = Encoding.UTF8.GetBytes(t[0] + ".").Concat(rawBody).ToArray();
        var matched = false;
        foreach (var secret in secrets.Where(secret => secret != ""))
        {
            var digest = new HMACSHA256(Encoding.UTF8.GetBytes(secret)).ComputeHash(signed);
            var expected = Encoding.UTF8.GetBytes("v1=" + BitConverter.ToString(digest).Replace("-", "").ToLowerInvariant());
            foreach (var item in items) matched |= CryptographicOperations.FixedTimeEquals(expected, Encoding.UTF8.GetBytes(item));
        }
        return matched;
    }
}
