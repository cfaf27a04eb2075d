/** Proof that this member owned a partition at some moment; worthless once the group moves on. */
export interface Ticket {
  isCurrent(): boolean;
}

export interface Membership {
  /** How often the group was joined; grows with every join. */
  generation(): number;
  /** From now on earlier tickets are worthless, and none are given until `joined`. */
  leave(): void;
  /** The group gave us these partitions, and no others. */
  joined(assignment: Readonly<Record<string, readonly number[]>>): void;
  owns(topic: string, partition: number): boolean;
  /** Null when the partition is not ours at this moment. */
  ticket(topic: string, partition: number): Ticket | null;
}

/**
 * Which partitions this member owns, as far as it knows. kafkajs commits with whatever generation it has at
 * that moment, so a handler that outlived a rebalance could rewind the group (its issue 1046): only the
 * holder of a current ticket may commit.
 */
export function createMembership(): Membership {
  let generation = 0;
  let owned: ReadonlySet<string> | null = null;

  const owns = (topic: string, partition: number): boolean =>
    owned?.has(partitionKey(topic, partition)) ?? false;

  return {
    generation: () => generation,
    leave() {
      owned = null;
    },
    joined(assignment) {
      generation += 1;
      owned = new Set(
        Object.entries(assignment).flatMap(([topic, partitions]) =>
          partitions.map((partition) => partitionKey(topic, partition)),
        ),
      );
    },
    owns,
    ticket(topic, partition) {
      const assignment = owned;
      return owns(topic, partition) ? { isCurrent: () => owned === assignment } : null;
    },
  };
}

export function partitionKey(topic: string, partition: number): string {
  return `${topic}|${partition}`;
}
