//! The form of a tree in an image: one node after the other, in the order of their numbers.

use super::{FILE, Node, Tree, rehash};
use crate::mutation::{number, put_number};

/// Kinds of nodes.
const NOTHING: u8 = 0;
const DIRECTORY: u8 = 1;
const PLAIN: u8 = 2;

impl Tree {
    /// Append the form that [`Self::decode`] reads: a node after the other, and its name.
    pub(crate) fn encode(&self, into: &mut Vec<u8>) {
        let mut is_free = vec![false; self.nodes.len()];
        for &index in &self.free {
            is_free[index as usize] = true;
        }
        for (node, is_free) in self.nodes.iter().zip(is_free) {
            let kind = match node.children {
                _ if is_free => NOTHING,
                FILE => PLAIN,
                _ => DIRECTORY,
            };
            into.push(kind);
            if !is_free {
                put_number(into, node.parent.into());
                put_number(into, node.modified_ms);
                put_number(into, node.name.len() as u64);
                into.extend_from_slice(&node.name);
            }
        }
    }

    /// The tree that was encoded; None if it was no tree.
    pub(crate) fn decode(mut rest: &[u8]) -> Option<Self> {
        let mut tree = Self {
            nodes: Vec::new(),
            ..Self::default()
        };
        while let Some((&kind, after)) = rest.split_first() {
            rest = after;
            if kind == NOTHING {
                tree.free.push(u32::try_from(tree.nodes.len()).ok()?);
                tree.nodes.push(Node::default());
                continue;
            }
            let parent = u32::try_from(number(&mut rest)?).ok()?;
            let modified_ms = number(&mut rest)?;
            let name_bytes = usize::try_from(number(&mut rest)?).ok()?;
            let (name, after) = rest.split_at_checked(name_bytes)?;
            rest = after;
            let children = if kind == PLAIN { FILE } else { 0 };
            tree.nodes.push(Node {
                name: name.into(),
                modified_ms,
                parent,
                children,
            });
        }
        tree.find_all_again().then_some(tree)
    }

    /// Fill the index and count the children; whether every node has a parent and a name of its own.
    fn find_all_again(&mut self) -> bool {
        let is_free: Vec<u32> = self.free.clone();
        let mut free = is_free.iter().peekable();
        for index in 1..self.nodes.len() {
            if free.next_if(|&&next| next as usize == index).is_some() {
                continue;
            }
            let parent = self.nodes[index].parent;
            match self.nodes.get_mut(parent as usize) {
                Some(directory) if directory.children != FILE => directory.children += 1,
                _ => return false,
            }
            let nodes = &self.nodes;
            let Ok(index) = u32::try_from(index) else {
                return false;
            };
            let place = rehash(nodes, index);
            self.by_name
                .insert_unique(place, index, |&index| rehash(nodes, index));
        }
        !self.nodes.is_empty()
    }
}
