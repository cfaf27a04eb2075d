/** The part of Grafana's classic dashboard JSON that the page draws. */

/** What a panel type reads of a field beyond the common part. */
