//! Encoding of the tree's nodes in an image.

use super::{FILE, Node, Tree, rehash};
use crate::mutation::{append_number, read_number};

/// Kinds of nodes.
const FREE_NODE: u8 = 0;
const DIRECTORY_NODE: u8 = 1;
const FILE_NODE: u8 = 2;

impl Tree {
    /// Append the encoding that [`Self::decode`] reads: each node with its name.
    pub(crate) fn encode(&self, into: &mut Vec<u8>) {
        let mut is_free = vec![false; self.nodes.len()];
        for &index in &self.free {
            is_free[index as usize] = true;
        }
        for (node, is_free) in self.nodes.iter().zip(is_free) {
            let kind = match node.children {
                _ if is_free => FREE_NODE,
                FILE => FILE_NODE,
                _ => DIRECTORY_NODE,
            };
            into.push(kind);
            if !is_free {
                append_number(into, node.parent.into());
                append_number(into, node.modified_ms);
                append_number(into, node.name.len() as u64);
                into.extend_from_slice(&node.name);
            }
        }
    }

    /// Decode a tree; `None` if it is invalid.
    pub(crate) fn decode(mut rest: &[u8]) -> Option<Self> {
        let mut tree = Self {
            nodes: Vec::new(),
            ..Self::default()
        };
        while let Some((&kind, after)) = rest.split_first() {
            rest = after;
            if kind == FREE_NODE {
                tree.free.push(u32::try_from(tree.nodes.len()).ok()?);
                tree.nodes.push(Node::default());
                continue;
            }
            let parent = u32::try_from(read_number(&mut rest)?).ok()?;
            let modified_ms = read_number(&mut rest)?;
            let name_bytes = usize::try_from(read_number(&mut rest)?).ok()?;
            let (name, after) = rest.split_at_checked(name_bytes)?;
            rest = after;
            let children = if kind == FILE_NODE { FILE } else { 0 };
            tree.nodes.push(Node {
                name: name.into(),
                modified_ms,
                parent,
                children,
            });
        }
        tree.rebuild_index().then_some(tree)
    }

    /// Rebuild the index and the child counts. Return whether every node has a parent and a unique
    /// name.
    fn rebuild_index(&mut self) -> bool {
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
